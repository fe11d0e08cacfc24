"""A region as C: one loop over rows, and in it one loop over columns for each pass.

A pass ends where a reduction of the row must be known: a softmax is max | exp, sum | div, three
passes over a row that is in the cache.  What one pass computes and a later one reads is kept in a
row of workspace.  The C names no sizes: R and C, rows and columns, are arguments.
"""

from __future__ import annotations

from math import prod

from acme_byparts_c.expressions import EXPRESSIONS, REDUCTIONS
from acme_byparts_c.space import Space, space_of
from byparts_graph_ir import Graph, Node, Refused, TensorType, Value
from byparts_opset import Mean

C_TYPES = {"f32": "float", "bool": "unsigned char"}
AT = {"F": "[r * C + j]", "R": "[r]", "C": "[j]", "S": "[0]"}


class Loops:
    """The body of the function that computes a region, and what the planner must know.

    Its arguments `a`: inputs, outputs, workspace, R, C.

    Raises:
        Refused: the nodes are not rows of one space; or of other dtypes.
    """

    def __init__(self, graph: Graph) -> None:
        values = {v.type.dtype for v in graph.values} - C_TYPES.keys()
        if values:
            raise Refused(f"only f32 and bool, not {min(values)}")
        self.graph, self.space = graph, _largest(graph)
        for node in graph.nodes:
            self.space.check(node)
        self.letter = {v: self.space.letter(v.type.dims) for v in graph.values}
        self._name = {v: f"v{i}" for i, v in enumerate(graph.values)}
        self._out = {v: f"out{i}" for i, v in enumerate(graph.outputs)}
        self._find_passes()
        buffered = [v for v in self._at if self._last[v] > self._at[v] and v not in graph.inputs]
        self._buffer = {v: f"kept{i}" for i, v in enumerate(buffered)}

    @property
    def sizes(self) -> tuple[int, int]:
        """R and C; where rows do not matter, everything is one row."""
        by_rows = {"R", "C"} & set(self.letter.values()) or any(map(_reduces, self.graph.nodes))
        rows, cols = self.space.rows, self.space.cols
        return (rows, cols) if by_rows else (1, rows * cols)

    @property
    def workspace_bytes(self) -> int:
        """A row for each value that a later pass reads."""
        return len(self._buffer) * 4 * _padded(self.sizes[1])

    @property
    def inplace(self) -> tuple[tuple[int, int], ...]:
        """Where the input is read for the last time before the output is written, or just then."""
        return tuple(
            (i, o)
            for i, x in enumerate(self.graph.inputs)
            for o, y in enumerate(self.graph.outputs)
            if x.type == y.type
            and self.letter[x] == self.letter[y] in ("F", "R")
            and (self.letter[x] == "R" or self._last[x] <= self._at[y])
        )

    def body(self) -> str:
        """The C."""
        inputs, outputs, nodes = self.graph.inputs, self.graph.outputs, self.graph.nodes
        lines = [_pointer(v.type, "const ", f"in{i}", i) for i, v in enumerate(inputs)]
        lines += [
            _pointer(v.type, "", self._out[v], len(inputs) + i) for i, v in enumerate(outputs)
        ]
        top = len(inputs) + len(outputs)
        lines.append(f"const long R = (long)a[{top + 1}], C = (long)a[{top + 2}];")
        for i, name in enumerate(self._buffer.values()):
            lines.append(f"float *{name} = (float *)a[{top}] + {i} * ((C + 15) / 16 * 16);")
        lines += [self._load(v) for v in inputs if self.letter[v] == "S"]
        ends = [n for n in nodes if self.letter[n.outputs[0]] in ("C", "S")]
        for node in ends:
            lines.append(self._begin(node))
        lines.append("for (long r = 0; r < R; r++) {")
        lines += [self._load(v) for v in inputs if self.letter[v] == "R"]
        for number in range(self._passes):
            lines += [*self._numbers(number), *self._pass(number)]
        lines.append("}")
        for node in ends:
            lines.append(self._end(node))
        return "\n".join(lines)

    def _find_passes(self) -> None:
        """In which pass each value is made (by row: before which), and last read."""
        self._at: dict[Value, int] = dict.fromkeys(self.graph.inputs, 0)
        self._last: dict[Value, int] = dict.fromkeys(self.graph.values, 0)
        for node in self.graph.nodes:
            y = node.outputs[0]
            now = max([self._at[v] for v in node.inputs], default=0)
            self._at[y] = now + (_reduces(node) and self.letter[y] == "R")
            for v in node.inputs:
                self._last[v] = max(self._last[v], now)
        self._passes = 1 + max(self._at.values())

    def _numbers(self, number: int) -> list[str]:
        """What is computed once a row, before this pass."""
        lines = []
        for node in self.graph.nodes:
            y = node.outputs[0]
            if self.letter[y] == "R" and self._at[y] == number and not _reduces(node):
                lines += [self._compute(node), self._store(y)]
        return lines

    def _pass(self, number: int) -> list[str]:
        """The loop over columns."""
        full = [n for n in self.graph.nodes if not _reduces(n) and self._is_full(n, number)]
        reductions = [
            n for n in self.graph.nodes if _reduces(n) and self._at[n.inputs[0]] == number
        ]
        if not full and not reductions:
            return []
        single = [n for n in reductions if self.letter[n.outputs[0]] != "C"]
        lines = [f"float {self._part(n)} = {REDUCTIONS[type(n.op)][0]};" for n in single]
        clauses = [f" reduction({REDUCTIONS[type(n.op)][2]}: {self._part(n)})" for n in single]
        lines += [f'_Pragma("omp simd{"".join(clauses)}")', "for (long j = 0; j < C; j++) {"]
        made = {n.outputs[0] for n in full}
        read = dict.fromkeys(v for n in (*full, *reductions) for v in n.inputs if v not in made)
        lines += [self._load(v) for v in read if self.letter[v] in ("F", "C")]
        for node in full:
            y = node.outputs[0]
            lines += [self._compute(node), self._store(y)]
            if y in self._buffer:
                lines.append(f"{self._buffer[y]}[j] = {self._name[y]};")
        lines += [self._next(n) for n in reductions]
        lines.append("}")
        for node in single:
            lines += self._after_row(node)
        return lines

    def _is_full(self, node: Node, number: int) -> bool:
        return self.letter[node.outputs[0]] == "F" and self._at[node.outputs[0]] == number

    def _part(self, node: Node) -> str:
        """The variable in which a row is summed up."""
        return f"part_{self._name[node.outputs[0]]}"

    def _next(self, node: Node) -> str:
        y, x = node.outputs[0], self._name[node.inputs[0]]
        to = f"{self._out[y]}[j]" if self.letter[y] == "C" else self._part(node)
        return f"{to} = {REDUCTIONS[type(node.op)][1].format(to, x)};"

    def _after_row(self, node: Node) -> list[str]:
        y, part = node.outputs[0], self._part(node)
        if self.letter[y] == "S":
            total = f"total_{self._name[y]}"
            return [f"{total} = {REDUCTIONS[type(node.op)][1].format(total, part)};"]
        scale = " / C" if type(node.op) is Mean else ""
        return [f"const float {self._name[y]} = {part}{scale};", self._store(y)]

    def _begin(self, node: Node) -> str:
        """Before the first row, of a reduction whose result is known after the last."""
        y, begin = node.outputs[0], REDUCTIONS[type(node.op)][0]
        if self.letter[y] == "S":
            return f"double total_{self._name[y]} = {begin};"
        return f"for (long j = 0; j < C; j++) {self._out[y]}[j] = {begin};"

    def _end(self, node: Node) -> str:
        y, mean = node.outputs[0], type(node.op) is Mean
        if self.letter[y] == "S":
            return f"{self._out[y]}[0] = total_{self._name[y]}{' / (R * C)' if mean else ''};"
        return f"for (long j = 0; j < C; j++) {self._out[y]}[j] /= R;" if mean else ""

    def _load(self, v: Value) -> str:
        if v in self._buffer:
            return f"const float {self._name[v]} = {self._buffer[v]}[j];"
        source = f"in{self.graph.inputs.index(v)}{AT[self.letter[v]]}"
        return f"const {C_TYPES[v.type.dtype]} {self._name[v]} = {source};"

    def _compute(self, node: Node) -> str:
        y = node.outputs[0]
        made = EXPRESSIONS[type(node.op)].format(*[self._name[v] for v in node.inputs])
        return f"const {C_TYPES[y.type.dtype]} {self._name[y]} = {made};"

    def _store(self, v: Value) -> str:
        return f"{self._out[v]}{AT[self.letter[v]]} = {self._name[v]};" if v in self._out else ""


def _largest(graph: Graph) -> Space:
    spaces = [space_of(node) for node in graph.nodes]
    return max(spaces, key=lambda s: (prod(s.dims), len(s.dims)))


def _reduces(node: Node) -> bool:
    return type(node.op) in REDUCTIONS


def _pointer(type: TensorType, const: str, name: str, position: int) -> str:
    return f"{const}{C_TYPES[type.dtype]} *{name} = a[{position}];"


def _padded(cols: int) -> int:
    return (cols + 15) // 16 * 16

"""From the nest of loops of a region to a function of tensor-ir.

Outputs may lie where inputs do, so results of one round are stored after all that is read in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir import Value
from byparts_op_loops.extents import extents
from byparts_op_loops.narrow import number, stored, wide
from byparts_op_loops.regions.elements import Elements, Env, Known, at, memory_dtype
from byparts_op_loops.regions.nest import Item, Loop, Nest
from byparts_op_loops.regions.steps import Step, is_copy
from byparts_tensor_ir.expression import Expr, as_expr, const, variable, widened
from byparts_tensor_ir.statement import Buffer, For, Func, Statement, Store
from byparts_tensor_ir.substitute import variables


def function_of(nest: Nest, few_columns: int) -> Func:
    """The function of a region: its parameters are the inputs, then the outputs, of the graph.

    Args:
        nest: the loops.
        few_columns: sums over rows of at most so many columns have the loop over rows inside.
    """
    graph = nest.steps.graph
    moves = all(map(is_copy, graph.nodes))
    params = [_buffer(nest, v, f"in{i}", moves) for i, v in enumerate(graph.inputs)]
    outputs = [_buffer(nest, v, f"out{o}", moves) for o, v in enumerate(graph.outputs)]
    inputs = dict(zip(graph.inputs, params, strict=True))
    elements = Elements(nest, inputs, outputs, _locals(nest, moves), moves)
    body = _Statements(elements, few_columns).of(nest.body, {})
    own = tuple(elements.locals.values())
    shapes = [b.shape for b in (*params, *outputs, *own)]
    sizes = {x for shape in shapes for n in shape for x in variables(n)}
    ordered = tuple(sorted(sizes, key=lambda x: str(x)))
    return Func("NAME", (*params, *outputs), tuple(outputs), ordered, body, own)


def _buffer(nest: Nest, v: Value, name: str, moves: bool) -> Buffer:
    known = nest.steps.layout.shape.get(v)
    dims = extents(v.type) if known is None else known  # nobody reads it
    return Buffer(name, tuple([as_expr(d) for d in dims]), memory_dtype(v, moves=moves))


def _locals(nest: Nest, moves: bool) -> dict[Step, Buffer]:
    """The buffers of steps that do not store into outputs."""
    buffers: dict[Step, Buffer] = {}
    for k, (v, s) in enumerate(nest.steps.makers.items()):
        if s.rule is not None or not s.outputs:
            shape = tuple([as_expr(nest.steps.layout.dims[a]) for a in nest.kept[s]])
            dtype = memory_dtype(v, moves=moves) if s.rule is None else wide(v.type.dtype)
            buffers[s] = Buffer(f"t{k}", shape, dtype, "local")
    return buffers


class _Statements:
    """Makes the statements of one function, whose loops are numbered.

    Args:
        elements: where values are read from.
        few_columns: as of `function_of`.
    """

    def __init__(self, elements: Elements, few_columns: int) -> None:
        self.elements, self.few_columns = elements, few_columns
        self.loops = 0

    def of(self, items: Sequence[Item], env: Env) -> tuple[Statement, ...]:
        """The statements of loops and steps, inside of loops whose variables are in `env`."""
        out: list[Statement] = []
        known: Known = {}
        results: list[Store] = []  # into outputs, which may lie where inputs do: after all reads
        for item in items:
            if isinstance(item, Step):
                store = self._store(item, env, known)
                (out if item in self.elements.locals else results).append(store)
                continue
            out += as_one(results)
            results = []
            out.append(self._loop(item, env))
        return (*out, *as_one(results))

    def _loop(self, loop: Loop, env: Env) -> For:
        self.loops += 1
        var = variable(f"i{self.loops}", self.elements.nest.steps.layout.dims[loop.axis])
        body = self.of(loop.body, {**env, loop.axis: var})
        inner = all(isinstance(x, Step) for x in loop.body)
        return within_columns(For(var, body, "vectorize" if inner else "serial"), self.few_columns)

    def _store(self, s: Step, env: Env, known: Known) -> Store:
        elements = self.elements
        if s in elements.locals:
            index = tuple([env[a] for a in elements.nest.kept[s]])
            targets: tuple[Buffer, ...] = (elements.locals[s],)
        else:
            index, targets = at(s.write, env), tuple([elements.outputs[o] for o in s.outputs])
        if s.rule is not None and isinstance(s.value, Value):
            n = elements.nest.steps.producers[s.value]
            ((_, read),) = elements.nest.steps.layout.parts[n][0].reads
            value = widened(elements.of(n.inputs[0], at(read, env), s, known))
            over = tuple([env[a] for a in s.over])
            return Store("s", targets, index, (value,), s.rule.reducer, over, True)
        if not isinstance(s.value, Value):
            value = self._number(s.value, s)
        else:
            value = elements.of(s.value, at(s.read if s.copies else s.write, env), s, known)
            if not elements.moves and s not in elements.locals:
                value = stored(value, s.value.type.dtype)
        return Store("s", targets, index, (value,) * len(targets))

    def _number(self, value: float, s: Step) -> Expr:
        """A number that s stores into outputs."""
        first = s.outputs[0]
        if not self.elements.moves:
            return const(value, self.elements.outputs[first].dtype)
        return number(value, self.elements.nest.steps.graph.outputs[first].type.dtype)


def as_one(stores: Sequence[Store]) -> list[Store]:
    """Stores at one index as one store, which computes all its values before it writes any.

    The largest comes last: outputs of it may lie over inputs that the others read.
    """
    groups: dict[tuple[Expr, ...], list[Store]] = {}
    for s in stores:
        groups.setdefault(s.index, []).append(s)
    return [
        Store(
            group[0].block,
            tuple([t for s in group for t in s.targets]),
            index,
            tuple([v for s in group for v in s.values]),
        )
        for index, group in sorted(groups.items(), key=lambda item: len(item[1]))
    ]


def within_columns(rows: For, most: int) -> For:
    """A loop over rows that only adds up columns, inside of the loop over these columns.

    Their sums then stay in registers; of more than `most` columns, a few vectors, rows would be
    read in parts: the loop stays as it is.
    """
    columns = rows.body[0]
    if len(rows.body) > 1 or not isinstance(columns, For) or columns.kind != "vectorize":
        return rows
    few = columns.extent.op == "const" and columns.extent.attr <= most
    for s in columns.body if few else ():
        if not isinstance(s, Store) or s.reducer is None or s.over != (rows.var,):
            return rows
    return For(columns.var, (For(rows.var, columns.body),), "vectorize") if few else rows

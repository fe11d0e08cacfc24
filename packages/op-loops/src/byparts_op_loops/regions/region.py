"""A region of elementwise ops, broadcasts, reductions and movements as loops of tensor-ir.

Axes that always go together are one loop.  What is a store: each output, each reduction, and what
is dear and needed in several loops; all else is written into the expressions that read it, at the
index at which they do, once for each loop, and the emitter computes equal expressions once.  So
what is sliced or transposed is never there as a whole, and what is put together of parts is some
stores into one buffer.

Stores are put into loops from the outermost axis inwards.  One that reads the result of a reduction
over an axis comes into a later loop over that axis, so softmax is one loop over rows with three
over columns inside.  What is only needed within one round of a loop is kept for that round alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_graph_ir import Graph, Node, Refused, Value
from byparts_op_loops.elementwise import cost, element
from byparts_op_loops.movement import Place, movement
from byparts_op_loops.narrow import (
    bits,
    held,
    loaded,
    narrowed,
    number,
    stored,
    wide,
)
from byparts_op_loops.reduction import reduction
from byparts_op_loops.regions.axes import is_reshape_of_ones
from byparts_op_loops.regions.inplace import Accesses
from byparts_op_loops.regions.layout import Axes, layout
from byparts_op_loops.regions.steps import Loop, Step, as_one, at, within_columns
from byparts_tensor_ir.expression import Expr, const, variable, widened
from byparts_tensor_ir.statement import Buffer, For, Func, Statement, Store

_Env = dict[int, Expr]  # axis -> index
_Known = dict[tuple[Value, tuple[Expr, ...]], Expr]  # (value, index) -> element


class RegionLoops:
    """The loops of a region.

    Args:
        graph: of elementwise ops, broadcasts and reductions; all types static.
        few_columns: sums over rows of at most so many columns have the loop over rows inside, so
            that each sum stays in a register; 0: rows are always outside.
        dear: additions an element; what costs as much is kept where several loops need it, in a
            local buffer, rather than computed in each.

    Attributes:
        func: buffers are the inputs, then the outputs, of the graph.
        inplace: pairs (input, output) that may be the same bytes.

    Raises:
        Refused: the values have no iteration space in common.
    """

    def __init__(self, graph: Graph, few_columns: int = 0, dear: int = 20) -> None:
        self.graph = graph
        self.few_columns = few_columns
        self.dear = dear
        self.layout = layout(graph.nodes)
        self.moves = all(map(_is_copy, graph.nodes))  # and computes nothing
        self.made = {v: n for n in graph.nodes for v in n.outputs}
        self.params = [self._buffer(v, f"in{i}") for i, v in enumerate(graph.inputs)]
        self.inputs = dict(zip(graph.inputs, self.params, strict=True))
        self.kept_values: set[Value] = set()
        self._arrange()
        kept = self._dear_and_shared()
        if kept:
            self.kept_values = kept
            self._arrange()
        self.func = self._func()
        self.inplace = self._inplace()

    # -- which stores there are ----------------------------------------------------------------

    def _arrange(self) -> None:
        """Make the steps, and put them into loops."""
        self.outputs = [self._buffer(v, f"out{o}") for o, v in enumerate(self.graph.outputs)]
        self.steps: dict[Value, Step] = {}  # what makes a value that is read from memory
        order: list[Step] = []
        for n in self.graph.nodes:
            (y,) = n.outputs
            buffers = [b for v, b in zip(self.graph.outputs, self.outputs, strict=True) if v is y]
            order += self._steps_of(y, buffers)
        for v, b in zip(self.graph.outputs, self.outputs, strict=True):
            if v in self.inputs:
                place = self._place_of(v)
                order.append(self._copy(v, place, place, [b]))
        self.body = self._loops(order, ())
        for s in order:
            common = self._common_loops(s, order)
            s.kept = tuple([a for a in s.axes if a not in s.over and a not in common])

    def _steps_of(self, y: Value, buffers: list[Buffer]) -> list[Step]:
        """The steps that make y, or store it into these outputs."""
        n = self.made[y]
        first = self.layout.parts[n][0]
        stored = bool(buffers) or type(n.op) in reduction
        if stored and y in self.layout.moved:
            raise Refused(f"{n.op.name} is stored, and read at another place")
        if type(n.op) in reduction:
            whole = _axes(first.reads[0][1])
            over = tuple([a for a in whole if a not in _axes(first.write)])
            self.steps[y] = Step(y, whole, first.write, over, reduction[n.op](n.op))
            complete = [self._copy(y, first.write, first.write, buffers)] if buffers else []
            return [self.steps[y], *complete]
        if y in self.layout.put_together:
            return [
                self._copy(n.inputs[p.reads[0][0]], p.write, p.reads[0][1], buffers)
                if p.reads
                else Step(p.value, _axes(p.write), p.write, buffers=list(buffers))
                for p in self.layout.parts[n]
            ]
        if buffers or y in self.kept_values:
            self.steps[y] = Step(y, _axes(first.write), first.write, buffers=buffers)
            return [self.steps[y]]
        return []

    def _place_of(self, v: Value) -> Place:
        """The place at which an input is read as a whole."""
        for n, parts in self.layout.parts.items():
            for p in parts:
                for i, read in p.reads:
                    if n.inputs[i] is v and self.layout.is_plain(v, read):
                        return read
        raise Refused("an input is an output, and read in parts")

    def _copy(self, v: Value, write: Place, read: Place, buffers: list[Buffer]) -> Step:
        return Step(v, _axes(write), write, read=read, copies=True, buffers=list(buffers))

    def _needs(self, s: Step) -> list[Step]:
        """The steps whose results s reads."""
        found: dict[Step, None] = {}
        todo, done = self._sources(s), set()
        while todo:
            v = todo.pop()
            if v in done:
                continue
            done.add(v)
            if v in self.steps:
                found[self.steps[v]] = None
                if self.steps[v].rule is not None:
                    continue
            if v in self.made:
                todo += self.made[v].inputs
        return list(found)

    def _sources(self, s: Step) -> list[Value]:
        """The values that s reads or computes first."""
        if not isinstance(s.value, Value):
            return []
        return [s.value] if s.copies else list(self.made[s.value].inputs)

    # -- loops ---------------------------------------------------------------------------------

    def _loops(self, steps: Sequence[Step], around: tuple[Loop, ...]) -> list[Loop | Step]:
        """Put steps, in order, into as few loops as can be."""
        body: list[Loop | Step] = []
        place: dict[Step, int] = {}
        inside: dict[Loop, list[Step]] = {}
        open_axes = {x.axis for x in around}
        for s in steps:
            rest = [a for a in s.axes if a not in open_axes]
            first = 0
            for d in self._needs(s):
                if d in place:
                    item = body[place[d]]
                    together = (
                        isinstance(item, Loop)
                        and bool(rest)
                        and item.axis == rest[0]
                        and item.axis not in d.over
                    )
                    first = max(first, place[d] + (0 if together else 1))
            at = None
            if rest:
                fits = [
                    i
                    for i, x in enumerate(body)
                    if i >= first and isinstance(x, Loop) and x.axis == rest[0]
                ]
                at = fits[0] if fits else None
            if at is None:
                at = len(body)
                if rest:
                    body.append(Loop(rest[0]))
                else:
                    body.append(s)
            place[s] = at
            item = body[at]
            if isinstance(item, Loop):
                inside.setdefault(item, []).append(s)
            else:
                s.path = list(around)
        for loop, members in inside.items():
            loop.body = self._loops(members, (*around, loop))
        return body

    def _common_loops(self, s: Step, order: Sequence[Step]) -> set[int]:
        """The axes of the loops that hold s and all steps that read it."""
        loops = list(s.path)
        for other in order:
            if s in self._needs(other):
                loops = [a for a, b in zip(loops, other.path, strict=False) if a is b]
        return {x.axis for x in loops}

    def _dear_and_shared(self) -> set[Value]:
        """Values that are dear and would be computed in several loops, always at one place."""
        uses: dict[Value, set[int]] = {}
        for s in self._in_order(self.body):
            loop = id(s.path[-1]) if s.path else 0
            for v in self._written_into(s):
                uses.setdefault(v, set()).add(loop)
        shared = {v for v, loops in uses.items() if len(loops) > 1 and v not in self.layout.moved}
        return {
            self._last_of_chain(v, shared)
            for v in shared - self.steps.keys()
            if cost(type(self.made[v].op)) >= self.dear or self._strides(v)
        }

    def _last_of_chain(self, v: Value, shared: set[Value]) -> Value:
        """Follow v to the last value made from it alone: to keep that one spares more than v."""
        readers = {n.outputs[0] for n in self.graph.nodes if v in n.inputs}
        while len(readers) == 1 and readers <= shared - self.steps.keys():
            (y,) = readers
            if y.type.dims != v.type.dims or v in self.graph.outputs:
                break
            v, readers = y, {n.outputs[0] for n in self.graph.nodes if y in n.inputs}
        return v

    def _strides(self, v: Value) -> bool:
        """Whether elements side by side in v are read far from each other."""
        (part,) = self.layout.parts[self.made[v]]
        if self.made[v].op not in movement or not part.write:
            return False
        if len(part.reads) != 1:  # of padding around nothing, none
            return False
        ((_, read),) = part.reads
        return not read or read[-1].steps != part.write[-1].steps

    def _in_order(self, items: Sequence[Loop | Step]) -> list[Step]:
        return [s for x in items for s in ([x] if isinstance(x, Step) else self._in_order(x.body))]

    def _written_into(self, s: Step) -> list[Value]:
        """The elementwise values whose expressions s contains."""
        found: dict[Value, None] = {}
        todo = [s.value] if isinstance(s.value, Value) and not s.rule else self._sources(s)
        while todo:
            v = todo.pop()
            if v in found or v not in self.made or (v in self.steps and v is not s.value):
                continue
            if type(self.made[v].op) in reduction:
                continue
            found[v] = None
            todo += self.made[v].inputs
        return list(found)

    # -- code ----------------------------------------------------------------------------------

    def _buffer(self, v: Value, name: str) -> Buffer:
        dims = self.layout.shape.get(v, v.type.dims)  # nobody reads it
        return Buffer(name, tuple([const(d) for d in dims]), self._dtype(v))

    def _dtype(self, v: Value) -> str:
        return bits(v.type.dtype) if self.moves else held(v.type.dtype)

    def _func(self) -> Func:
        self.locals: dict[Step, Buffer] = {}
        for k, (v, s) in enumerate(self.steps.items()):
            if s.rule is not None or not s.buffers:
                shape = tuple([const(self.layout.dims[a]) for a in s.kept])
                dtype = self._dtype(v) if s.rule is None else wide(v.type.dtype)
                self.locals[s] = Buffer(f"t{k}", shape, dtype, "local")
        self.names = 0
        body = self._statements(self.body, {})
        params = (*self.params, *self.outputs)
        return Func("NAME", params, tuple(self.outputs), (), body, tuple(self.locals.values()))

    def _statements(self, items: Sequence[Loop | Step], env: _Env) -> tuple[Statement, ...]:
        out: list[Statement] = []
        known: _Known = {}
        results: list[Store] = []  # into outputs, which may lie where inputs do: after all reads
        for item in items:
            if isinstance(item, Step):
                (out if item in self.locals else results).extend(self._store(item, env, known))
                continue
            out += as_one(results)
            results = []
            self.names += 1
            var = variable(f"i{self.names}", self.layout.dims[item.axis])
            body = self._statements(item.body, {**env, item.axis: var})
            inner = all(isinstance(x, Step) for x in item.body)
            loop = For(var, body, "vectorize" if inner else "serial")
            out.append(within_columns(loop, self.few_columns))
        return (*out, *as_one(results))

    def _store(self, s: Step, env: _Env, known: _Known) -> list[Store]:
        if s in self.locals:
            index = tuple([env[a] for a in s.kept])
            targets: tuple[Buffer, ...] = (self.locals[s],)
        else:
            index, targets = at(s.write, env), tuple(s.buffers)
        if s.rule is not None and isinstance(s.value, Value):
            n = self.made[s.value]
            ((_, read),) = self.layout.parts[n][0].reads
            value = widened(self._element(n.inputs[0], at(read, env), s, known))
            over = tuple([env[a] for a in s.over])
            return [Store("s", targets, index, (value,), s.rule.reducer, over, True)]
        if not isinstance(s.value, Value):
            value = self._number(s.value, targets[0])
        else:
            value = self._element(s.value, at(s.read if s.copies else s.write, env), s, known)
            value = value if self.moves or s in self.locals else stored(value, s.value.type.dtype)
        return [Store("s", targets, index, (value,) * len(targets))]

    def _number(self, value: float, target: Buffer) -> Expr:
        if not self.moves:
            return const(value, target.dtype)
        return number(value, self.graph.outputs[self.outputs.index(target)].type.dtype)

    def _element(self, v: Value, index: tuple[Expr, ...], s: Step, known: _Known) -> Expr:
        """The element of v at this index, as it is needed in s."""
        todo = [(v, index)]
        while todo:  # chains of a thousand ops are deeper than Python's stack
            top = todo[-1]
            if not self._inlined(top[0], s):
                known[top] = self._read(*top, s)
            elif top not in known:
                operands = self._operands(*top)
                waiting = [x for x in operands if x not in known]
                if waiting:
                    todo += waiting
                    continue
                n = self.made[top[0]]
                args = [known[x] for x in operands]
                if _is_copy(n):  # of nothing, where an empty input is padded
                    known[top] = args[0] if args else self._padding(n)
                else:
                    known[top] = _result(n, args)
            todo.pop()
        return known[v, index]

    def _padding(self, n: Node) -> Expr:
        """The number that a node which reads nothing gives, as `_element` has elements."""
        v, (part,) = n.outputs[0], self.layout.parts[n]
        if self.moves:
            return const(part.value, self._dtype(v))
        return narrowed(const(part.value, wide(v.type.dtype)), v.type.dtype)

    def _operands(self, v: Value, index: tuple[Expr, ...]) -> list[tuple[Value, tuple[Expr, ...]]]:
        """Elements of the inputs from which the element of v at `index` is computed."""
        n = self.made[v]
        (part,) = self.layout.parts[n]
        env = dict(zip(_by_dimension(part.write), index, strict=True))
        return [(n.inputs[i], at(read, env)) for i, read in part.reads]

    def _read(self, v: Value, index: tuple[Expr, ...], s: Step) -> Expr:
        """An element of an input, or of what another loop stored."""
        if v in self.inputs:
            return self._loaded(self.inputs[v][index], v)
        step = self.steps[v]
        if step not in self.locals:
            return self._loaded(step.buffers[0][index], v)
        env = dict(zip(_by_dimension(step.write), index, strict=True))
        e = self.locals[step][tuple([env[a] for a in step.kept])]
        if step.rule is not None:
            n = 1
            for a in step.over:
                n *= self.layout.dims[a]
            e = narrowed(step.rule.after(e, n), v.type.dtype)
        return e

    def _loaded(self, e: Expr, v: Value) -> Expr:
        return loaded(e, v.type.dtype) if v.type.dtype == "i4" and not self.moves else e

    def _inlined(self, v: Value, s: Step) -> bool:
        """Whether s computes v itself."""
        if v in self.inputs:
            return False
        step = self.steps.get(v)
        return step is None or (step.rule is None and step.path == s.path)

    def _inplace(self) -> tuple[tuple[int, int], ...]:
        """Pairs (input, output) that may be the same bytes."""
        found, pairs = Accesses(self.func), []
        for i, x in enumerate(self.graph.inputs):
            for o, y in enumerate(self.graph.outputs):
                if x.type != y.type or self.graph.outputs.count(y) > 1 or y in self.inputs:
                    continue
                if self.params[i] in found.reads and found.may_be_one(
                    self.params[i], self.outputs[o]
                ):
                    pairs.append((i, o))
        return tuple(pairs)


def _axes(place: Place) -> Axes:
    """The axes of a place, in the order of loops."""
    return tuple(sorted({axis for index in place for axis, _ in index.steps}))


def _by_dimension(place: Place) -> list[int]:
    """The axis of each dimension of a plain place."""
    return [steps[0][0] for _, steps in place]


def _result(n: Node, args: Sequence[Expr]) -> Expr:
    """An element of what the op of a node makes of these elements."""
    return narrowed(element[n.op](n.op, *args), n.outputs[0].type.dtype)


def _is_copy(n: Node) -> bool:
    return n.op in movement or type(n.op) is ops.BroadcastTo or is_reshape_of_ones(n)

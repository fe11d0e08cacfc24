"""A region of elementwise ops, broadcasts and reductions as loops of tensor-ir.

Axes that always go together are one loop.  What is a store: each output, each reduction, and what
is dear and needed in several loops; all else is written into the expressions that read it, once for
each loop, and the emitter computes equal expressions once.

Stores are put into loops from the outermost axis inwards.  One that reads the result of a reduction
over an axis comes into a later loop over that axis, so softmax is one loop over rows with three
over columns inside.  What is only needed within one round of a loop is kept for that round alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_graph_ir import Graph, Refused, Value
from byparts_kernels_native.axes import Axes, is_reshape_of_ones, merged, whole_space
from byparts_kernels_native.steps import Loop, Step, as_one
from byparts_tensor_ir.expression import Expr, const, variable
from byparts_tensor_ir.lowering.elementwise import cost, element
from byparts_tensor_ir.lowering.reduction import reduction
from byparts_tensor_ir.statement import Buffer, For, Func, Statement, Store

_DEAR = 20  # of `cost`: keeping it in the first cache costs less


class RegionLoops:
    """The loops of a region.

    Args:
        graph: of elementwise ops, broadcasts and reductions; all types static.

    Attributes:
        func: buffers are the inputs, then the outputs, of the graph.
        inplace: pairs (input, output) that may be the same bytes.

    Raises:
        Refused: the values have no iteration space in common.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        space = whole_space(graph.nodes)
        if space is None:
            raise Refused("the values of the region have no iteration space in common")
        self.space = merged(space)
        self.made = {v: n for n in graph.nodes for v in n.outputs}
        self.params = [self._buffer(v, f"in{i}") for i, v in enumerate(graph.inputs)]
        self.inputs = dict(zip(graph.inputs, self.params, strict=True))
        self.kept_values: set[Value] = set()
        self._arrange()
        dear = self._dear_and_shared()
        if dear:
            self.kept_values = dear
            self._arrange()
        self.inplace = self._inplace()
        self.func = self._func()

    # -- which stores there are ----------------------------------------------------------------

    def _arrange(self) -> None:
        """Make the steps, and put them into loops."""
        self.outputs: list[Buffer] = []
        self.steps: dict[Value, Step] = {}
        wanted: dict[Value, list[Buffer]] = {}
        for o, v in enumerate(self.graph.outputs):
            b = self._buffer(v, f"out{o}")
            self.outputs.append(b)
            wanted.setdefault(v, []).append(b)
        for n in self.graph.nodes:
            (y,) = n.outputs
            axes = self.space.axes[y]
            if type(n.op) in reduction:
                over = tuple([a for a in self.space.axes[n.inputs[0]] if a not in axes])
                rule = reduction[n.op](n.op)
                whole = tuple(sorted((*axes, *over)))
                self.steps[y] = Step(y, whole, over, rule)
            elif y in wanted or y in self.kept_values:
                self.steps[y] = Step(y, axes)
        for v, buffers in wanted.items():
            if v in self.steps and self.steps[v].rule is None:
                self.steps[v].buffers += buffers
        # The result of a reduction is stored into outputs when it is complete.
        self.final = {v: Step(v, self.space.axes[v]) for v in wanted if self._is_reduction(v)}
        for v, step in self.final.items():
            step.buffers += wanted[v]
        for v, buffers in wanted.items():
            if v in self.inputs:
                self.final[v] = Step(v, self.space.axes[v], buffers=list(buffers))
        order = [s for n in self.graph.nodes for v in n.outputs for s in self._steps_of(v)]
        order += [self.final[v] for v in self.inputs if v in self.final]
        self.body = self._loops(order, ())
        for s in order:
            common = self._common_loops(s, order)
            s.kept = tuple([a for a in self._own_axes(s) if a not in common])

    def _is_reduction(self, v: Value) -> bool:
        return v in self.made and type(self.made[v].op) in reduction

    def _steps_of(self, v: Value) -> list[Step]:
        return [s for s in (self.steps.get(v), self.final.get(v)) if s is not None]

    def _own_axes(self, s: Step) -> Axes:
        return tuple([a for a in s.axes if a not in s.over])

    def _needs(self, s: Step) -> list[Step]:
        """The steps whose results s reads."""
        found: dict[Step, None] = {}
        done: set[Value] = set()
        todo = [s.value] if s in self.final.values() and s.value in self.steps else []
        if not todo and s.value in self.made:
            todo = list(self.made[s.value].inputs)
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
        """Values that are dear and would be computed in several loops."""
        uses: dict[Value, set[int]] = {}
        for s in [*self.steps.values(), *self.final.values()]:
            loop = id(s.path[-1]) if s.path else 0
            for v in self._written_into(s):
                uses.setdefault(v, set()).add(loop)
        return {
            v
            for v, loops in uses.items()
            if len(loops) > 1 and cost(type(self.made[v].op)) >= _DEAR and v not in self.steps
        }

    def _written_into(self, s: Step) -> list[Value]:
        """The elementwise values whose expressions s contains."""
        if s.value not in self.made or (s in self.final.values()):
            return []
        found: dict[Value, None] = {}
        todo = list(self.made[s.value].inputs) if s.rule else [s.value]
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
        unread = v not in self.space.axes
        dims = v.type.dims if unread else [self.space.dims[a] for a in self.space.axes[v]]
        return Buffer(name, tuple(const(d) for d in dims), v.type.dtype)

    def _func(self) -> Func:
        self.locals: dict[Step, Buffer] = {}
        for k, s in enumerate(self.steps.values()):
            if s.rule is not None or not s.buffers:
                shape = tuple([const(self.space.dims[a]) for a in s.kept])
                self.locals[s] = Buffer(f"t{k}", shape, s.value.type.dtype, "local")
                s.buffers.insert(0, self.locals[s])
        self.names = 0
        body = self._statements(self.body, {})
        params = (*self.params, *self.outputs)
        return Func("NAME", params, tuple(self.outputs), (), body, tuple(self.locals.values()))

    def _statements(
        self, items: Sequence[Loop | Step], env: dict[int, Expr]
    ) -> tuple[Statement, ...]:
        out: list[Statement] = []
        known: dict[Value, Expr] = {}
        results: list[Store] = []  # into outputs, which may lie where inputs do: after all reads
        for item in items:
            if isinstance(item, Step):
                stores = self._store(item, env, known)
                (out if item.rule is not None or item in self.locals else results).extend(stores)
                continue
            out += as_one(results)
            results = []
            self.names += 1
            var = variable(f"i{self.names}", self.space.dims[item.axis])
            body = self._statements(item.body, {**env, item.axis: var})
            inner = all(isinstance(x, Step) for x in item.body)
            out.append(For(var, body, "vectorize" if inner else "serial"))
        return (*out, *as_one(results))

    def _store(self, s: Step, env: dict[int, Expr], known: dict[Value, Expr]) -> list[Store]:
        block = f"s{s.place}"
        if s.rule is not None:
            (x,) = self.made[s.value].inputs
            value = self._expression(x, s, env, known)
            index = tuple([env[a] for a in s.kept])
            over = tuple([env[a] for a in s.over])
            return [Store(block, (s.buffers[0],), index, (value,), s.rule.reducer, over, True)]
        if s in self.final.values():
            value = self._read(s.value, env)
        else:
            value = self._made(s.value, s, env, known)
        out: list[Store] = []
        for b in s.buffers:
            at = s.kept if b is self.locals.get(s) else self._own_axes(s)
            out.append(Store(block, (b,), tuple([env[a] for a in at]), (value,)))
        return out

    def _read(self, v: Value, env: dict[int, Expr]) -> Expr:
        """An element of an input, or of what another loop stored."""
        if v in self.inputs:
            return self.inputs[v][tuple([env[a] for a in self.space.axes[v]])]
        step = self.steps[v]
        b = step.buffers[0]
        at = step.kept if b is self.locals.get(step) else self._own_axes(step)
        e = b[tuple([env[a] for a in at])]
        if step.rule is not None:
            n = 1
            for a in step.over:
                n *= self.space.dims[a]
            e = step.rule.after(e, n)
        return e

    def _expression(
        self, v: Value, s: Step, env: dict[int, Expr], known: dict[Value, Expr]
    ) -> Expr:
        """An element of v as it is needed in s."""
        if v in self.inputs:
            return self._read(v, env)
        step = self.steps.get(v)
        if step is not None and (step.rule is not None or step.path != s.path):
            return self._read(v, env)
        return self._made(v, s, env, known)

    def _made(self, v: Value, s: Step, env: dict[int, Expr], known: dict[Value, Expr]) -> Expr:
        """An element of an elementwise value, computed here."""
        done = known.get(v)
        if done is None:
            todo = [v]
            while todo:  # chains of a thousand ops are deeper than Python's stack
                top = todo[-1]
                n = self.made[top]
                waiting = [x for x in n.inputs if self._inlined(x, s) and x not in known]
                if waiting:
                    todo += waiting
                    continue
                todo.pop()
                args = [
                    known[x] if self._inlined(x, s) else self._expression(x, s, env, known)
                    for x in n.inputs
                ]
                plain = type(n.op) is ops.BroadcastTo or is_reshape_of_ones(n)
                known[top] = args[0] if plain else element[n.op](n.op, *args)
            done = known[v]
        return done

    def _inlined(self, v: Value, s: Step) -> bool:
        """Whether s computes v itself."""
        if v in self.inputs:
            return False
        step = self.steps.get(v)
        return step is None or (step.rule is None and step.path == s.path)

    # -- in place ------------------------------------------------------------------------------

    def _inplace(self) -> tuple[tuple[int, int], ...]:
        """Pairs of an input that is read for the last time where, or before, the output is written.

        Steps of one place read all before they write (`as_one`).  One of an earlier place has read
        the element of its round, in each round of the loops around both.
        """
        order: list[Step] = []
        self._in_order(self.body, order)
        pairs = []
        for i, x in enumerate(self.graph.inputs):
            readers = [s for s in order if x in self._direct_reads(s)]
            for o, y in enumerate(self.graph.outputs):
                if x.type != y.type or self.graph.outputs.count(y) > 1 or y in self.inputs:
                    continue
                if x not in self.space.axes:  # nobody reads it
                    continue
                writer = self.final.get(y) or self.steps[y]
                if all(self._before(s, writer, x, y) for s in readers):
                    pairs.append((i, o))
        return tuple(pairs)

    def _before(self, reader: Step, writer: Step, x: Value, y: Value) -> bool:
        shared = {a.axis for a, b in zip(reader.path, writer.path, strict=False) if a is b}
        axes_x, axes_y = self.space.axes[x], self.space.axes[y]
        return reader.place <= writer.place and axes_x == axes_y and shared <= set(axes_x)

    def _in_order(self, items: Sequence[Loop | Step], out: list[Step]) -> None:
        """Append the steps in the order in which they run, and number their places."""
        place = out[-1].place + 1 if out else 0
        for item in items:
            if isinstance(item, Loop):
                self._in_order(item.body, out)
                place = out[-1].place + 1
            else:
                item.place = place
                out.append(item)

    def _direct_reads(self, s: Step) -> set[Value]:
        """The inputs that s reads."""
        if s.value in self.inputs:
            return {s.value}
        if s in self.final.values():
            return set()
        reads: set[Value] = set()
        todo, done = list(self.made[s.value].inputs), set()
        while todo:
            v = todo.pop()
            if v in done:
                continue
            done.add(v)
            if v in self.inputs:
                reads.add(v)
            elif self._inlined(v, s):
                todo += self.made[v].inputs
        return reads

"""Elements of the values of a region as expressions, at the index at which a step needs them.

What is read from memory is a load; all else is written out, once for each loop, and the emitter
computes equal expressions once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from byparts_graph_ir import Node, Value
from byparts_op_loops.elementwise import element
from byparts_op_loops.extents import Extent
from byparts_op_loops.movement import Place
from byparts_op_loops.narrow import bits, held, loaded, narrowed, number, wide
from byparts_op_loops.regions.nest import Nest
from byparts_op_loops.regions.steps import Step, is_copy
from byparts_tensor_ir.expression import Expr, as_expr, const
from byparts_tensor_ir.statement import Buffer

Index = tuple[Expr, ...]
Env = dict[int, Expr]  # axis -> index
Known = dict[tuple[Value, Index], Expr]  # (value, index) -> element, within one body of a loop


@dataclass(frozen=True, eq=False)
class Elements:
    """Buffers and loops from which the values of a region are read.

    Attributes:
        nest: the loops.
        inputs: input -> its buffer.
        outputs: the buffers of the outputs.
        locals: step -> a buffer of its own.
        moves: whether the region computes nothing, so that any dtype is moved as bits.
    """

    nest: Nest
    inputs: Mapping[Value, Buffer]
    outputs: Sequence[Buffer]
    locals: Mapping[Step, Buffer]
    moves: bool

    def of(self, v: Value, index: Index, s: Step, known: Known) -> Expr:
        """The element of v at this index, as it is needed in s."""
        todo = [(v, index)]
        while todo:  # chains of a thousand ops are deeper than Python's stack
            top = todo[-1]
            if not self._inlined(top[0], s):
                known[top] = self._read(*top)
            elif top not in known:
                operands = self._operands(*top)
                waiting = [x for x in operands if x not in known]
                if waiting:
                    todo += waiting
                    continue
                known[top] = self._computed(top[0], [known[x] for x in operands])
            todo.pop()
        return known[v, index]

    def _inlined(self, v: Value, s: Step) -> bool:
        """Whether s computes v itself."""
        if v in self.inputs:
            return False
        step, paths = self.nest.steps.makers.get(v), self.nest.paths
        return step is None or (step.rule is None and paths[step] == paths[s])

    def _operands(self, v: Value, index: Index) -> list[tuple[Value, Index]]:
        """Elements of the inputs from which the element of v at `index` is computed."""
        n = self.nest.steps.producers[v]
        (part,) = self.nest.steps.layout.parts[n]
        env = dict(zip(_by_dimension(part.write), index, strict=True))
        return [(n.inputs[i], at(read, env)) for i, read in part.reads]

    def _computed(self, v: Value, operands: Sequence[Expr]) -> Expr:
        """An element of what the op of a node makes of these elements."""
        n = self.nest.steps.producers[v]
        if not is_copy(n):
            return narrowed(element[n.op](n.op, *operands), v.type.dtype)
        return operands[0] if operands else self._padding(n)  # of nothing: an empty input is padded

    def _padding(self, n: Node) -> Expr:
        """The number that a node which reads nothing gives, as `of` has elements."""
        v, (part,) = n.outputs[0], self.nest.steps.layout.parts[n]
        if self.moves:
            return number(part.value, v.type.dtype)
        return narrowed(const(part.value, wide(v.type.dtype)), v.type.dtype)

    def _read(self, v: Value, index: Index) -> Expr:
        """An element of an input, or of what another loop stored."""
        if v in self.inputs:
            return self._loaded(self.inputs[v][index], v)
        step = self.nest.steps.makers[v]
        if step not in self.locals:
            return self._loaded(self.outputs[step.outputs[0]][index], v)
        env = dict(zip(_by_dimension(step.write), index, strict=True))
        e = self.locals[step][tuple([env[a] for a in self.nest.kept[step]])]
        if step.rule is not None:
            n: Extent = 1
            for a in step.over:
                n = n * self.nest.steps.layout.dims[a]
            e = narrowed(step.rule.after(e, n), v.type.dtype)
        return e

    def _loaded(self, e: Expr, v: Value) -> Expr:
        return loaded(e, v.type.dtype) if v.type.dtype == "i4" and not self.moves else e


def memory_dtype(v: Value, *, moves: bool) -> str:
    """The dtype of buffers that hold v; bits alone where a region only moves them."""
    return bits(v.type.dtype) if moves else held(v.type.dtype)


def at(place: Place, env: Mapping[int, Expr]) -> Index:
    """The indices of a place, where axes are these."""
    out = []
    for offset, steps in place:
        index = as_expr(offset)
        for axis, step in steps:
            index = index + env[axis] * step
        out.append(index)
    return tuple(out)


def _by_dimension(place: Place) -> list[int]:
    """The axis of each dimension of a plain place."""
    return [steps[0][0] for _, steps in place]

"""Through which operations a gradient flows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from byparts_frontend_tf.graph.operation import Operation, Tensor

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.kind import Kind


class Paths:
    """All that ys depend on by a path that a gradient takes.  O(operations they depend on).

    Args:
        ys: tensors of floating point.
        stops: tensors that are constants.
    """

    def __init__(self, ys: Iterable[Tensor], stops: Iterable[Tensor] = ()) -> None:
        self._tensors: set[Any] = set()
        self._ops: set[Operation] = set()
        stopped = set(stops)
        todo = [t for t in ys if t not in stopped]
        while todo:
            t = todo.pop()
            if t.variable is not None:
                self._tensors.add(t.variable)
                continue
            self._tensors.add(t)
            op = t.op
            if op in self._ops or not op.kind.gradient:
                continue
            self._ops.add(op)
            floats = [read for read in op.inputs if read.dtype.base_dtype.is_floating]
            todo += [read for read in floats if read not in stopped]

    def reach(self, x: Tensor) -> bool:
        """Whether a gradient reaches x: a tensor, or the memory of a variable."""
        return (x if x.variable is None else x.variable) in self._tensors

    def only_readers(self, x: Tensor, kind: Kind) -> list[Operation]:
        """The operations that read x, if all on a path are of this kind and read it as input 0.

        Empty if there are others, or if x itself is one of the ys.
        """
        found: list[Operation] = []
        sources = [x] if x.variable is None else _memory_of(x.variable)
        for t in sources:
            for op in t._consumers:
                if op not in self._ops or (op.type == "Identity" and op.outputs[0].variable):
                    continue
                if op.kind is not kind or op.inputs[0] is not t or op.attributes.get("axis"):
                    return []
                if op.body is not None:
                    return []
                found.append(op)
        return sorted(dict.fromkeys(found), key=lambda op: op.number)


def _memory_of(variable: Operation) -> list[Tensor]:
    """All tensors that are the memory of a variable."""
    found = list(variable.outputs)
    for t in found:
        for op in t._consumers:
            found += [o for o in op.outputs if o.variable is variable and o not in found]
    return found

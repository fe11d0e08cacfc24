"""The branches and loops of a graph: operations made inside belong to a body.

A body reads tensors of outside by name; what they are is found when it is complete (`captured`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Optional

from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor


def _state_read(lowering: Any, op: Operation) -> None:
    assert op.outputs[0] in lowering.env, f"{op.name} is read outside of its loop"


# What stands in a body for a value that changes from round to round, or for a gradient.
STATE = Kind(
    "LoopState",
    special=_state_read,
    shape=lambda inputs, dtype, dims: dims,
    dtype=lambda inputs, dtype, dims: dtype,
)


class Body:
    """A branch, or a loop with its condition.

    Attributes:
        outer: the body around it, or `None`.
        what: for errors: "cond" or "while".
    """

    def __init__(self, graph: Graph, what: str) -> None:
        self.graph, self.what = graph, what
        self.outer: Optional[Body] = graph.body

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Operations made inside belong to this body."""
        before, self.graph.body = self.graph.body, self
        try:
            yield
        finally:
            self.graph.body = before

    def holds(self, op: Operation) -> bool:
        """Whether an operation belongs to this body, or to one inside."""
        body = op.body
        while body is not None:
            if body is self:
                return True
            body = body.outer
        return False

    def captured(self, targets: list[Any]) -> tuple[list[Tensor], list[Operation]]:
        """The tensors of outside that targets need, and the operations that they wait for."""
        tensors: dict[Tensor, None] = {}
        waited_for: dict[Operation, None] = {}
        seen: set[Operation] = set()
        todo: list[Operation] = []

        def visit(t: Tensor) -> None:
            if not self.holds(t.op):
                tensors[t] = None
            elif t.op not in seen:
                seen.add(t.op)
                todo.append(t.op)

        for target in targets:
            if isinstance(target, Tensor):
                visit(target)
            elif not self.holds(target):
                waited_for[target] = None
            elif target not in seen:
                seen.add(target)
                todo.append(target)
        while todo:
            op = todo.pop()
            for t in op.inputs:
                visit(t)
            for c in op._control_inputs:
                if not self.holds(c):
                    waited_for[c] = None
                elif c not in seen:
                    seen.add(c)
                    todo.append(c)
        return list(tensors), list(waited_for)

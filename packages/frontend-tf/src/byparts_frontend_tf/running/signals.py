"""Signals of a lowering that cannot go on: no errors, the run does something else first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_graph_ir import Value


class Wanted(Exception):  # no error: the run goes on with it
    """Values that have to be computed before an operation can be lowered.

    Attributes:
        values: device values.
        numbers: whether what comes next is for these very numbers, or only for their types.
    """

    def __init__(self, values: Sequence[Value], numbers: bool) -> None:
        super().__init__("values are wanted on the host")
        self.values, self.numbers = tuple(values), numbers


class OnHost(Exception):  # no error: the branch or loop is then run by the host
    """An operation that cannot be in a body of graph-ir.

    Attributes:
        op: that operation.
    """

    def __init__(self, op: Operation, why: str) -> None:
        super().__init__(f"{op.name} ({op.type}): {why}")
        self.op = op


class Expand(Exception):  # no error
    """An operation that stands for others: those of the branch that is taken.

    Attributes:
        targets: tensors that the branch gives; what they need is lowered next.
        body: the branch.
        ready: then called, in place of the operation.
    """

    def __init__(self, targets: Sequence[Tensor], body: Any, ready: Callable[[], None]) -> None:
        super().__init__("an operation stands for others")
        self.targets, self.body, self.ready = tuple(targets), body, ready

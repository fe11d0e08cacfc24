"""An op of graph-ir that is the identity, with a gradient that the program says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Any

import byparts_opset as ops
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.own_gradient import GradientFunction, made_gradient
from byparts_frontend_tf.running.needed import needed
from byparts_graph_ir import Node, Op, TensorType, Types, Value

if TYPE_CHECKING:
    from byparts_frontend_tf.running.lowering import Lowering

_numbers = count()
_rules: dict[int, Rule] = {}  # of what is being lowered: gradients are taken while it is


class Rule:
    """The gradient of one operation, in the level it is lowered in."""

    def __init__(
        self,
        lowering: Lowering,
        op: Operation,
        inputs: Sequence[Tensor],
        function: GradientFunction,
    ) -> None:
        self._lowering, self._op, self._function = lowering, op, function
        self._inputs = tuple(inputs)

    def __call__(self, node: Node, dys: Sequence[Value]) -> list[Value | None]:
        """The gradients of the inputs."""
        lowering, own = self._lowering, made_gradient(self._op, self._function)
        targets = [t for t in own.dxs if t is not None]
        outside, _ = own.body.captured(list(targets))
        lowering.lower_now(needed(outside, lowering.known, self._op.body), [])
        before, done = dict(lowering.env), set(lowering.done)
        lowering.env.update(zip(self._inputs, node.inputs, strict=False))
        lowering.env.update(zip(self._op.outputs, node.outputs, strict=True))
        lowering.env.update(zip(own.dys, dys, strict=True))
        try:
            lowering.lower_now(needed(targets, lowering.known, own.body), [])
            return [None if t is None else lowering.value(t) for t in own.dxs]
        finally:
            lowering.env, lowering.done = before, done


class Passed(Op):
    """The last inputs; the gradient with respect to the first `own` inputs is the program's."""

    number: int
    own: int

    def infer(self, *types: TensorType) -> Types:
        return tuple(types[self.own :])

    infer_unranked = infer

    def evaluate(self, *inputs: Any) -> tuple[Any, ...]:
        """The last inputs."""
        return tuple(inputs[self.own :])

    def decompose(self, *inputs: Value) -> tuple[Value, ...]:
        """The last inputs."""
        return tuple([ops.identity(v) for v in inputs[self.own :]])

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        """Build the gradient that the program defines."""
        found = _rules[self.number](node, dys)
        return (*found, *[None] * len(dys))


def with_own_gradient(
    lowering: Lowering,
    op: Operation,
    inputs: Sequence[Tensor],
    results: Sequence[Value],
    function: GradientFunction,
) -> tuple[Value, ...]:
    """The results, whose gradient with respect to the inputs is the program's own."""
    number = next(_numbers)
    _rules[number] = Rule(lowering, op, inputs, function)
    lowering.run.passed.append(number)
    values = lowering.values(inputs, op)
    return Passed(number, len(values)).outputs_of(*values, *results)


def forget(numbers: Sequence[int]) -> None:
    """Drop the rules of a run that is lowered."""
    for number in numbers:
        _rules.pop(number, None)

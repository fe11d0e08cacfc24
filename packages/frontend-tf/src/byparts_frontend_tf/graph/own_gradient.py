"""Gradients of operations that a program says itself: as operations, made when first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.graph.body import STATE, Body
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor

GradientFunction = Callable[..., Any]  # (op, *gradients of its outputs) -> gradients of its inputs
OWN_GRADIENTS: dict[str, GradientFunction] = {}  # by the names of `RegisterGradient`


class OwnGradient:
    """The operations that are the gradient of one.

    Args:
        op: the operation.
        function: the program's own.

    Attributes:
        dys: tensors that stand for the gradients of its outputs.
        dxs: the gradients, or `None`.
        body: holds these operations.
    """

    def __init__(self, op: Operation, function: GradientFunction) -> None:
        graph = op.graph
        outer, graph.body = graph.body, op.body
        was_final, graph._finalized = graph._finalized, False
        self.body = Body(graph, "gradient")
        try:
            with (
                graph.as_default(),
                graph.name_scope(None),
                graph.name_scope(f"gradients/{op.name}_grad"),
                self.body.entered(),
            ):
                self.dys: list[Tensor] = [
                    STATE(name="dy", dtype=t.dtype.base_dtype, dims=t.dims) for t in op.outputs
                ]
                self.dxs = self._called(op, function)
        finally:
            graph.body, graph._finalized = outer, was_final

    def _called(self, op: Operation, function: GradientFunction) -> list[Optional[Tensor]]:
        made = function(op, *self.dys)
        given = list(made) if isinstance(made, (list, tuple)) else [made]
        return [None if g is None else convert_to_tensor(g) for g in given]


def own_gradient(op: Operation) -> Optional[GradientFunction]:
    """The program's own gradient of an operation, by `gradient_override_map`, or `None`."""
    name = op.gradient_type
    return None if name is None else OWN_GRADIENTS.get(name)


def made_gradient(op: Operation, function: GradientFunction) -> OwnGradient:
    """The operations that are its gradient, made once."""
    if op.own_gradient is None:
        op.own_gradient = OwnGradient(op, function)
    gradient: OwnGradient = op.own_gradient
    return gradient

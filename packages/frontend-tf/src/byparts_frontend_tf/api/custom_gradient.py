"""Gradients that a program says itself: `custom_gradient`, `RegisterGradient`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.nest import flatten, pack_sequence_as
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.own_gradient import OWN_GRADIENTS, GradientFunction
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.running.own_gradient import with_own_gradient
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value


@symbol("RegisterGradient")
class RegisterGradient:
    """The function below is the gradient of operations, by `gradient_override_map`.

    Args:
        op_type: the name that `gradient_override_map` maps a type to.

    Raises:
        KeyError: another function has this name.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string")
        self._type = op_type

    def __call__(self, function: GradientFunction) -> GradientFunction:
        if self._type in OWN_GRADIENTS:
            raise KeyError(f"Registering two gradient with name '{self._type}'!")
        OWN_GRADIENTS[self._type] = function
        return function


@symbol("NotDifferentiable", "NoGradient")
def not_differentiable(op_type: str) -> None:
    """Accepted: whether a gradient passes is said by the kind of an operation."""


def _pass(lowering: Any, op: Operation) -> tuple[Value, ...]:
    count = op.attributes["outputs"]
    results = lowering.values(op.inputs[:count], op)
    function = op.attributes["function"]
    return with_own_gradient(lowering, op, op.inputs[count:], results, function)


CUSTOM = Kind(
    "IdentityN",
    special=_pass,
    shape=lambda inputs, outputs, function: [t.dims for t in inputs[:outputs]],
    dtype=lambda inputs, outputs, function: [t.dtype.base_dtype for t in inputs[:outputs]],
)


def with_gradient(
    results: Sequence[Tensor], inputs: Sequence[Tensor], function: GradientFunction
) -> tuple[Tensor, ...]:
    """Attach a gradient to results that were computed from `inputs` where no gradient passes.

    Args:
        results: of one operation or several.
        inputs: what they were computed from.
        function: (operation, *gradients of the results) -> gradients of the inputs, or `None`.  The
            operation's outputs are the results; nothing that it makes may run on the host.
    """
    return CUSTOM.outputs(*results, *inputs, outputs=len(results), function=function)


@symbol("custom_gradient")
def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a gradient of its own: it gives its result and a function of gradients."""

    @wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with name_scope(None, "CustomGradient"):
            inputs = [convert_to_tensor(a) for a in args]
            result, gradient = f(*[identity(t) for t in inputs], **kwargs)
            leaves = [convert_to_tensor(t) for t in flatten(result)]
            outputs = CUSTOM.outputs(
                *leaves,
                *inputs,
                outputs=len(leaves),
                function=lambda op, *dys: gradient(*dys),
            )
        return pack_sequence_as(result, list(outputs))

    return decorated

"""`tf.identity`, `tf.stop_gradient`, `tf.group`: tensors and operations that pass on others."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies, name_scope
from byparts_frontend_tf.symbols import symbol

IDENTITY = Kind("Identity", ops.identity, host=lambda x: x, shape=like_first)


@symbol("identity")
def identity(input: Any, name: Optional[str] = None) -> Any:
    """The tensor itself; made in a block of control dependencies it waits for them."""
    if hasattr(input, "_map_values"):
        return input._map_values(lambda values: identity(values, name))
    return IDENTITY(convert_to_tensor(input, name="input"), name=name)


STOP_GRADIENT = Kind(
    "StopGradient", ops.stop_gradient, host=lambda x: x, shape=like_first, gradient=False
)


@symbol("stop_gradient")
def stop_gradient(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The tensor itself; no gradient passes."""
    return STOP_GRADIENT(convert_to_tensor(input), name=name)


PREVENT_GRADIENT = Kind("PreventGradient", ops.identity, shape=like_first, gradient=False)


@symbol("identity_n")
def identity_n(input: Any, name: Optional[str] = None) -> list[Any]:
    """The tensors themselves."""
    return [identity(t, name) for t in input]


def _no_op(lowering: Any, op: Operation) -> None:
    return None


NO_OP = Kind("NoOp", special=_no_op, shape=lambda inputs: [], dtype=())


@symbol("no_op")
def no_op(name: Optional[str] = None) -> Operation:
    """An operation that does nothing, but waits for what it was made to wait for."""
    return NO_OP.operation((), name)


@symbol("group")
def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that runs all of these."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    flat = list(_flat(inputs))
    for v in flat:
        if not hasattr(v, "graph") and not hasattr(v, "_as_graph_element"):
            raise TypeError(f"Expected tf.group() expected Tensor, Operation, not {v!r}")
    with control_dependencies(flat):
        return NO_OP.operation((), name or "group_deps")


def _flat(inputs: Any) -> Any:
    for v in inputs:
        if isinstance(v, (list, tuple)):
            yield from _flat(v)
        elif isinstance(v, dict):
            yield from _flat(v.values())
        elif v is not None:
            yield v


@symbol("tuple")
def tuple_(tensors: Any, name: Optional[str] = None, control_inputs: Any = None) -> list[Any]:
    """The tensors, each of which waits for all of them.

    Raises:
        ValueError: there is none.
    """
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        waited_for = [t for t in tensors if t is not None]
        if not waited_for:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*waited_for, *(control_inputs or ()))
        with control_dependencies([gate]):
            return [t if t is None or isinstance(t, Operation) else identity(t) for t in tensors]


@symbol("with_dependencies", "contrib.framework.with_dependencies")
def with_dependencies(
    dependencies: Any, output_tensor: TensorLike, name: Optional[str] = None
) -> Any:
    """The tensor, when these have run."""
    with name_scope(name, "control_dependency", []) as scope, control_dependencies(dependencies):
        return identity(convert_to_tensor(output_tensor), name=scope)


@symbol("guarantee_const")
def guarantee_const(input: TensorLike, name: Optional[str] = None) -> Any:
    """The tensor itself."""
    return identity(input, name)

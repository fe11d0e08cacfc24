"""`tf.placeholder`: tensors that a run is fed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.shape import Dims, as_dims, fits, shown


def _not_fed(lowering: Any, op: Operation) -> Any:
    if op.outputs[0] in lowering.env:
        return None
    of_shape = "" if op.outputs[0].dims is None else f" and shape {shown(op.outputs[0].dims)}"
    raise InvalidArgumentError(
        None,
        op,
        f"You must feed a value for placeholder tensor {op.name!r} with dtype "
        f"{op.outputs[0].dtype.name}{of_shape}",
    )


PLACEHOLDER = Kind(
    "Placeholder",
    special=_not_fed,
    shape=lambda inputs, dtype, shape: shape,
    dtype=lambda inputs, dtype, shape: dtype,
)


@symbol("placeholder")
def placeholder(dtype: Any, shape: Any = None, name: Optional[str] = None) -> Tensor:
    """A tensor that each run is fed; `None` in its shape is a dimension that may vary."""
    return PLACEHOLDER(name=name, dtype=as_dtype(dtype).base_dtype, shape=as_dims(shape))


def _checked_shape(inputs: Sequence[Tensor], *, shape: Dims) -> Dims:
    if not fits(inputs[0].dims, shape):
        raise ValueError(f"Shapes {shown(inputs[0].dims)} and {shown(shape)} are not compatible")
    return shape


PLACEHOLDER_WITH_DEFAULT = Kind(
    "PlaceholderWithDefault",
    lambda x, shape: ops.identity(x),
    host=lambda x, shape: x,
    shape=_checked_shape,
)


@symbol("placeholder_with_default")
def placeholder_with_default(input: TensorLike, shape: Any, name: Optional[str] = None) -> Tensor:
    """A tensor that a run may be fed; else it is `input`."""
    x = convert_to_tensor(input)
    return PLACEHOLDER_WITH_DEFAULT(x, name=name, shape=as_dims(shape))

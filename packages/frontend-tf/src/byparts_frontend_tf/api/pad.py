"""`tf.pad`."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import int32
from byparts_tf_files.shape import Dims

_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}


def _pad(x: Value, paddings: Any, mode: str, value: float) -> Value:
    return ops.pad(x, [(int(a), int(b)) for a, b in paddings], value, mode)


def _padded(inputs: Any, **_: Any) -> Dims:
    dims, known = inputs[0].dims, static_value(inputs[1])
    if dims is None:
        return None if known is None else (None,) * len(known)
    if known is None:
        return (None,) * len(dims)
    pairs = zip(dims, known, strict=True)
    return tuple([None if d is None else d + int(a) + int(b) for d, (a, b) in pairs])


def _pad_on_host(x: Any, paddings: Any, mode: Any, value: Any) -> Any:
    if mode != "constant":
        return np.pad(x, paddings, mode)
    if x.dtype == object and value == 0:
        value = b""
    return np.pad(x, paddings, mode, constant_values=value)


def _pad_with(x: Value, paddings: Any, value: Value) -> Value:
    """The rest of the padded tensor is `value`, which only the run knows."""
    pairs = [(int(a), int(b)) for a, b in paddings]
    inside = ops.pad(ops.fill(1, x.type.dtype, x.type.dims), pairs)
    return ops.pad(x, pairs) + (1 - inside) * ops.stop_gradient(value)  # as TensorFlow


_PAD = Kind("Pad", _pad, host=_pad_on_host, values=(1,), shape=_padded)
_PAD_WITH = Kind("PadV2", _pad_with, values=(1,), shape=_padded)


@symbol("pad")
def pad(
    tensor: TensorLike,
    paddings: TensorLike,
    mode: str = "CONSTANT",
    name: Optional[str] = None,
    constant_values: Any = 0,
) -> Tensor:
    """Elements before and after each axis: paddings[axis] = (before, after).

    Args:
        tensor: of any rank.
        paddings: [rank, 2].
        mode: CONSTANT, REFLECT (without the edge) or SYMMETRIC (with it).
        name: of the operation.
        constant_values: what is added, a number.

    Raises:
        ValueError: another mode; paddings of another shape.
    """
    if mode.upper() not in _MODES:
        raise ValueError(f"Unknown padding mode: {mode}")
    x, around = convert_to_tensor(tensor), convert_to_tensor(paddings, name="paddings")
    if around.dtype.base_dtype.name not in ("int32", "int64"):
        around = convert_to_tensor(paddings, int32)
    if around.dims is not None and (len(around.dims) != 2 or around.dims[1] not in (None, 2)):
        raise ValueError(f"Shape of paddings must be [rank, 2]: {around.shape}")
    count = None if around.dims is None else around.dims[0]
    if x.dims is not None and count not in (None, len(x.dims)):
        raise ValueError(f"paddings {around.shape} for a tensor of shape {x.shape}")
    known = static_value(around)
    if known is not None and (known < 0).any():
        raise ValueError(f"Paddings must be non-negative for 'Pad' (op: 'Pad'): {known.tolist()}")
    value = constant_values
    if isinstance(value, Tensor):
        value = static_value(value)
        if value is None and mode.upper() == "CONSTANT":
            return _PAD_WITH(x, around, constant_values, name=name)
    return _PAD(x, around, name=name, mode=_MODES[mode.upper()], value=value)

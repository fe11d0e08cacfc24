"""`tf.pad`."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.dtypes import int32
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.shape import Dims
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value

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


_PAD = Kind("Pad", _pad, values=(1,), shape=_padded)


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
    given = constant_values
    value = static_value(given) if isinstance(given, Tensor) else given
    return _PAD(x, around, name=name, mode=_MODES[mode.upper()], value=value)

"""Torch's dtypes and tensors as ours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_frontend_torch.symbols import dimension
from byparts_graph_ir import ARRAY_DTYPES, SUB_BYTE, GraphError, TensorType
from byparts_opset.dtypes import numpy_dtype

# Torch's int4 is a name without arithmetic and without a way to NumPy.
_OURS = {theirs: ours for ours, theirs in ARRAY_DTYPES.items() if ours not in SUB_BYTE}


def dtype_name(dtype: Any) -> str:
    """`torch.float32` -> "f32".

    Raises:
        GraphError: we have no such dtype.
    """
    name = str(dtype).removeprefix("torch.")
    if name not in _OURS:
        known = ", ".join(_OURS)
        raise GraphError(f"torch.{name} is none of our dtypes ({known}): cast it in the model")
    return _OURS[name]


def type_of(tensor: Any) -> TensorType:
    """The type of a tensor, real or not; dimensions may be symbols.

    Raises:
        GraphError: its dtype or its layout is none of ours.
    """
    if str(tensor.layout) != "torch.strided":
        raise GraphError(f"a tensor of layout {tensor.layout}: make it dense, with to_dense()")
    return TensorType(dtype_name(tensor.dtype), tuple(map(dimension, tensor.shape)))


def as_array(tensor: Any, name: str) -> NDArray[Any]:
    """A copy of a tensor, wherever it is.

    Raises:
        GraphError: it has no data: it is fake or on the meta device; or its type is none of ours.
    """
    try:
        kind = type_of(tensor)
    except GraphError as error:
        raise GraphError(f"weight {name!r}: {error}") from None
    if tensor.is_meta or type(tensor).__name__ == "FakeTensor":
        raise GraphError(f"weight {name!r} has no data: it is a {type(tensor).__name__} on "
                         f"{tensor.device}; export a model with real weights")  # fmt: skip
    plain = tensor.detach().cpu().contiguous()
    if kind.dtype == "bf16":  # NumPy has none of its own: the bits, seen as those of ml_dtypes
        return np.array(_bits(plain).view(numpy_dtype("bf16")))
    return np.array(plain.numpy())


def _bits(tensor: Any) -> NDArray[Any]:
    import torch  # only a tensor of torch comes here

    bits: NDArray[Any] = tensor.view(torch.int16).numpy()
    return bits

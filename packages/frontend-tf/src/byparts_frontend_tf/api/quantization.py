"""`tf.quantization.fake_quant_*`: numbers rounded to those that few bits can say."""

from __future__ import annotations

from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import float32


def _nudged(low: Value, high: Value, levels: tuple[float, float]) -> tuple[Value, Value, Value]:
    """A range of which 0 is a level exactly, and its step."""
    first, last = levels
    step = (high - low) / (last - first)
    zero = ops.clip(ops.floor(first - low / step + 0.5), first, last)
    return (first - zero) * step, (last - zero) * step, step


def _fake(x: Value, low: Value, high: Value, bits: int, narrow: bool) -> Value:
    """The gradient reaches x inside the range, and the ends of the range what is beyond them."""
    low, high = ops.cast(low, x.type.dtype), ops.cast(high, x.type.dtype)
    levels = (1.0 if narrow else 0.0, float((1 << bits) - 1))
    bottom, top, step = [ops.stop_gradient(v) for v in _nudged(low, high, levels)]
    inside = ops.minimum(ops.maximum(x, bottom), top)
    rounded = ops.floor((inside - bottom) / step + 0.5) * step + bottom
    below, above = ops.less(x, bottom), ops.greater(x, top)
    empty = ops.logical_and(ops.equal(low, 0.0), ops.equal(high, 0.0))
    passed = ops.select(below, low, ops.select(above, high, x))
    passed = ops.select(empty, x, passed)
    value = ops.select(empty, ops.zeros_like(rounded), rounded)
    return passed + ops.stop_gradient(value - passed)


_ARGS = Kind(
    "FakeQuantWithMinMaxArgs",
    lambda x, low, high, bits, narrow: _fake(
        x, ops.constant(low, "f32"), ops.constant(high, "f32"), bits, narrow
    ),
    shape=like_first,
)
_VARS = Kind("FakeQuantWithMinMaxVars", _fake, shape=like_first)
_CHANNELS = Kind("FakeQuantWithMinMaxVarsPerChannel", _fake, shape=like_first)


def _checked(num_bits: int) -> int:
    if not 2 <= num_bits <= 16:
        raise ValueError(f"num_bits must be between 2 and 16 inclusive, and is {num_bits}")
    return int(num_bits)


@symbol("fake_quant_with_min_max_args", "quantization.fake_quant_with_min_max_args")
def fake_quant_with_min_max_args(
    inputs: TensorLike,
    min: float = -6,
    max: float = 6,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Numbers rounded to the 2**num_bits levels between `min` and `max`, moved so that 0 is one.

    Raises:
        ValueError: a range that is empty; bits that cannot be.
    """
    if min >= max:
        raise ValueError(f"min has to be smaller than max, was: {min} >= {max}")
    return _ARGS(
        convert_to_tensor(inputs, float32),
        name=name,
        low=float(min),
        high=float(max),
        bits=_checked(num_bits),
        narrow=bool(narrow_range),
    )


def _by_tensors(kind: Kind, given: tuple[Any, ...], name: Any, bits: int, narrow: bool) -> Tensor:
    tensors = [convert_to_tensor(t, float32) for t in given]
    return kind(*tensors, name=name, bits=_checked(bits), narrow=bool(narrow))


@symbol("fake_quant_with_min_max_vars", "quantization.fake_quant_with_min_max_vars")
def fake_quant_with_min_max_vars(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Quantize as `fake_quant_with_min_max_args` does, with a range that is learned."""
    return _by_tensors(_VARS, (inputs, min, max), name, num_bits, narrow_range)


@symbol(
    "fake_quant_with_min_max_vars_per_channel",
    "quantization.fake_quant_with_min_max_vars_per_channel",
)
def fake_quant_with_min_max_vars_per_channel(
    inputs: TensorLike,
    min: TensorLike,
    max: TensorLike,
    num_bits: int = 8,
    narrow_range: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Quantize as `fake_quant_with_min_max_vars`, with a range for each channel: [channels]."""
    return _by_tensors(_CHANNELS, (inputs, min, max), name, num_bits, narrow_range)

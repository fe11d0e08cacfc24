"""Random tensors as pure functions of a key and a counter.

There is no hidden state: a draw takes a 0-d i64 key and a 0-d i64 counter; the same two give the
same numbers, on every backend and when a value is computed a second time to save memory.  A stream
is a key; `next_counter` moves it past a draw, so a program that draws takes the counter in and
gives the new one out.  A draw of n elements never reads more than n blocks of its stream, whatever
the op and dtype, which is why `next_counter` needs to know nothing else.

`RandomUniform` is the one primitive; `philox.py` says how its bits are made, and the rest are
functions of it.  Where a shape is asked for, a value to be shaped like will do (`draw.py`).
"""

from __future__ import annotations

from math import isfinite, prod

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import GraphError, Value
from byparts_opset.draw import Draw, FieldShape, FloatDraw, Shape, Stream, draw, numbers
from byparts_opset.dtypes import Array, numpy_dtype
from byparts_opset.philox import stream

BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # of a random word (f64: of two) in a uniform


class RandomUniform(FloatDraw):
    """y = k * 2^-bits in [0, 1), where k is the top `bits` bits of a random integer.

    Inputs: key, counter, and a value to be shaped like where `shape` is None.  Element i takes
    word i of the stream; f64 takes the 64-bit number words[2i] + 2^32 * words[2i + 1].
    bits = 24 for f32, 53 for f64, 11 for f16, 8 for bf16: every y is exact.
    """

    def evaluate(self, key: Array, counter: Array, *like: Array) -> tuple[Array, ...]:
        shape, bits = numbers(self.shape, like), BITS[self.dtype]
        words = stream(int(key), int(counter), prod(shape) * (2 if self.dtype == "f64" else 1))
        if self.dtype == "f64":
            k = (words[0::2] + words[1::2].astype(np.uint64) * 2**32) >> (64 - bits)
        else:
            k = words >> (32 - bits)
        y = k.astype(np.float64) * 2.0**-bits
        return (y.astype(numpy_dtype(self.dtype)).reshape(shape),)


class Bernoulli(Draw):
    """y = u < p, a bool that is true with probability p; both sides are f32.

    Inputs as `RandomUniform`, of which element i takes uniform i.
    """

    p: float
    shape: FieldShape = None

    examples = ((0.3, (3, 5)), (1.0, (4,)), (0.0, ()), (0.5, (0,)), (0.5,))

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise GraphError(f"bernoulli: p is {self.p}, which is no probability")

    def evaluate(self, key: Array, counter: Array, *like: Array) -> tuple[Array, ...]:
        (u,) = RandomUniform(numbers(self.shape, like)).evaluate(key, counter)
        return (np.asarray(u < np.float32(self.p)),)

    def decompose(self, key: Value, counter: Value, *like: Value) -> tuple[Value, ...] | None:
        return (RandomUniform(self.shape)(key, counter, *like) < self.p,)


def random_uniform(
    key: Stream,
    counter: Stream,
    shape: Shape,
    low: float = 0.0,
    high: float = 1.0,
    dtype: str = "f32",
) -> Value:
    """Draw from [low, high), uniformly: u * (high - low) + low, less than `high` when rounded."""
    if not (low < high and isfinite(low) and isfinite(high - low)):
        raise GraphError(f"random_uniform: takes finite low < high, got {low} and {high}")
    u = draw(RandomUniform(None, dtype), key, counter, shape)
    if (low, high) == (0.0, 1.0):
        return u
    return ops.minimum(u * (high - low) + low, _below(high, dtype))


def bernoulli(key: Stream, counter: Stream, shape: Shape, p: float = 0.5) -> Value:
    """Draw bools that are true with probability p."""
    return draw(Bernoulli(p), key, counter, shape)


def random_int(
    key: Stream, counter: Stream, shape: Shape, low: int, high: int, dtype: str = "i32"
) -> Value:
    """Draw integers of [low, high): low + floor(u * (high - low)) for an f64 uniform u.

    Exact on every backend, and even to one part in 2^53 / (high - low).
    """
    if not low < high <= low + 2**53:
        raise GraphError(f"random_int: takes low < high <= low + 2^53, got {low} and {high}")
    u = draw(RandomUniform(None, "f64"), key, counter, shape)
    y = ops.cast(ops.floor(u * float(high - low)), dtype)
    return y if low == 0 else y + low


def next_counter(counter: Value, drawn: int | Value) -> Value:
    """Advance the counter past `drawn` elements, or past those of the value `drawn`."""
    if isinstance(drawn, Value):
        drawn = drawn.type.size if drawn.type.static else ops.count_like(ops.cast(drawn, "i64"))
    return counter + drawn


def _below(high: float, dtype: str) -> float:
    """The largest number of the dtype that is less than `high`."""
    kind = numpy_dtype(dtype).type
    x = kind(high)
    return float(x if float(x) < high else np.nextafter(x, kind(-np.inf)))

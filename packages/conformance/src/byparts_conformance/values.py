"""Edge values of each dtype, on which a kernel may be wrong though it is right on usual values.

The values do not depend on the op.  An elementwise op is tried on all combinations of the edges of
its inputs' dtypes; any other op on arrays with one kind of edge at a time, since an infinity or a
NaN spreads and would hide the others.  `Op.domain` replaces values that an op does not define.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import BITS, FLOATS, ITEM_BYTES, UNSIGNED, TensorType, integer_limits
from byparts_opset.dtypes import numpy_dtype

Array = NDArray[Any]

MOST_COMBINATIONS = 20_000  # of edges; where there are more, so many are drawn
RANDOM_BITS = 2_000  # further values, drawn from all bit patterns of a dtype

# Kinds of edges for ops that are not elementwise; an array has one kind at a time.
KINDS = (
    *("nan", "inf", "-inf", "infinities", "zeros", "equal", "ties"),
    *("large", "large and equal", "small", "tiny", "negative"),
)
ORDER_KINDS = ("largest", "least")  # of reductions: an infinity is more than the largest number
INTEGER_KINDS = ("extremes", "neighbours", "equal", "negative")

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


@cache
def edges(dtype: str) -> Array:
    """Each value of the dtype near which functions, roundings or comparisons change."""
    numpy = numpy_dtype(dtype)
    if dtype == "bool":
        return np.array([False, True])
    if dtype not in FLOATS:
        return np.array(_integer_edges(*integer_limits(dtype)), numpy)
    with np.errstate(all="ignore"):
        return np.array(_float_edges(numpy), "float64").astype(numpy)


def _integer_edges(least: int, most: int) -> list[int]:
    if most - least < 16:  # i4
        return list(range(least, most + 1))
    powers = [2**p + d for p in (7, 8, 15, 16, 24, 31, 53) for d in (-1, 0, 1)]
    positive = [0, 1, 2, 3, 5, 7, 10, 64, *powers, most, most - 1, most // 2]
    both = [*positive, *(-v for v in positive), least, least + 1, least // 2]
    return sorted({v for v in both if least <= v <= most})


def _float_edges(numpy: np.dtype[Any]) -> list[float]:
    info = _finfo(numpy)
    top, small, least, ulp = (
        float(v) for v in (info.max, info.tiny, info.smallest_subnormal, info.eps)
    )
    halves = [0.5, 1.5, 2.5, 3.5]  # ties of rounding
    near_one = [1 - ulp / 2, 1, 1 + ulp]
    mathematical = [0.1, 1 / 3, 0.7, 2, 3, 4, 5, 6, 7, np.pi / 4, np.pi / 2, np.pi, np.e]
    exponentials = [10, 17, 20, 40, 50, 87, 88.5, 89, 100, 104, 708, 710, 750]
    whole = [100.5, 2.0 / ulp, 1.0 / ulp, 0.5 / ulp + 0.5, 1e4, 65504, 1e5]
    sizes = [top, top / 2, top**0.5, top**0.5 * 2, top**0.25, 1e10, 1e20]
    tiny = [least, 3 * least, small - least, small, 2 * small, small**0.5, ulp, ulp**2, 1e-3, 1e-10]
    values = [0, *halves, *near_one, *mathematical, *exponentials, *whole, *sizes, *tiny, np.inf]
    kept = [v for v in values if abs(v) <= top or v == np.inf]
    return [*kept, *(-v if v else -0.0 for v in kept), np.nan]


@dataclass(frozen=True)
class _Bfloat16:
    """The limits of bf16, which `numpy.finfo` does not know."""

    max: float = (2 - 2.0**-7) * 2.0**127
    tiny: float = 2.0**-126
    smallest_subnormal: float = 2.0**-133
    eps: float = 2.0**-7


def _finfo(numpy: np.dtype[Any]) -> Any:
    return _Bfloat16() if numpy.name == "bfloat16" else np.finfo(numpy)


def combinations(rng: np.random.Generator, dtypes: Sequence[str]) -> list[Array]:
    """Arrays of equal length, one for each dtype: combinations of edges, and random bit patterns.

    A single input of at most 16 bits takes all values of its dtype.  Several inputs also have equal
    elements: `x == y` is an edge of comparisons.
    """
    if len(dtypes) == 1 and BITS[dtypes[0]] <= 16:
        return [_all_values(dtypes[0])]
    every = [edges(dtype) for dtype in dtypes]
    if prod(len(e) for e in every) <= MOST_COMBINATIONS:
        crossed = [c.reshape(-1) for c in np.meshgrid(*every, indexing="ij")]
    else:
        crossed = [rng.choice(e, MOST_COMBINATIONS) for e in every]
    drawn = [random_bits(rng, dtype, RANDOM_BITS) for dtype in dtypes]
    for i in range(1, len(dtypes)):
        if dtypes[i] == dtypes[0]:
            drawn[i] = np.where(np.arange(RANDOM_BITS) % 4 == i % 4, drawn[0], drawn[i])
    whole = [usual(rng, dtype, RANDOM_BITS) for dtype in dtypes]
    return [np.concatenate(c) for c in zip(crossed, drawn, whole, strict=True)]


def random_bits(rng: np.random.Generator, dtype: str, count: int) -> Array:
    """Values drawn uniformly from the bit patterns of the dtype: all exponents, NaN too."""
    bits = rng.integers(0, 2 ** BITS[dtype] - 1, count, np.uint64, endpoint=True)
    return bits.astype(_UNSIGNED[ITEM_BYTES[dtype]]).view(numpy_dtype(dtype))


def usual(rng: np.random.Generator, dtype: str, count: int) -> Array:
    """Numbers around 0, whole ones and halves among them."""
    numpy = numpy_dtype(dtype)
    if dtype in FLOATS:
        x = rng.normal(0, 4, count)
        return np.where(rng.random(count) < 0.3, np.round(2 * x) / 2, x).astype(numpy)
    low = 0 if dtype in UNSIGNED or dtype == "bool" else -12
    return rng.integers(low, 2 if dtype == "bool" else 13, count).astype(numpy)


def _all_values(dtype: str) -> Array:
    bits = np.arange(2 ** BITS[dtype])
    return bits.astype(_UNSIGNED[ITEM_BYTES[dtype]]).view(numpy_dtype(dtype))


def kinds_of(dtype: str) -> tuple[str, ...]:
    """The kinds of edges that arrays of this dtype can have."""
    return (*KINDS, *ORDER_KINDS) if dtype in FLOATS else INTEGER_KINDS if dtype != "bool" else ()


def with_edges(rng: np.random.Generator, given: Array, t: TensorType, kind: str) -> Array:
    """The array `given`, with edges of one kind in it; `given` itself where the dtype has none."""
    if kind not in kinds_of(t.dtype) or not given.size:
        return given
    if t.dtype not in FLOATS:
        return _with_integers(rng, given, kind, *integer_limits(t.dtype))
    x = given.astype("float64")
    few = rng.random(x.shape) < max(0.1, 1.5 / x.size)
    few.flat[rng.integers(x.size)] = True
    sign = rng.choice([-1.0, 1.0], x.shape)
    info = _finfo(numpy_dtype(t.dtype))
    made: dict[str, Callable[[], Array]] = {
        "nan": lambda: np.where(few, np.nan, x),
        "inf": lambda: np.where(few, np.inf, x),
        "-inf": lambda: np.where(few, -np.inf, x),
        "infinities": lambda: np.where(few, sign * np.inf, x),
        "largest": lambda: _ascending(x, float(info.max)),
        "least": lambda: -_ascending(x, float(info.max)),
        "zeros": lambda: 0.0 * sign,
        "equal": lambda: np.full(x.shape, np.round(8 * x.flat[0]) / 8),  # sums are exact
        "ties": lambda: np.round(2 * x) / 2,
        "large": lambda: sign * rng.uniform(300, 1e4, x.shape),
        "large and equal": lambda: np.full(x.shape, 1000 + np.round(8 * x.flat[0]) / 8),
        "small": lambda: np.where(few, sign * (1e-3 if given.itemsize == 2 else 2e-7), x),
        "tiny": lambda: sign * rng.uniform(1, 4, x.shape) * float(info.tiny),
        "negative": lambda: -np.abs(x) - 0.5,
    }
    with np.errstate(all="ignore"):
        return np.asarray(made[kind]()).astype(given.dtype)


def _ascending(x: Array, largest: float) -> Array:
    """The largest number, and behind it an infinity."""
    made = np.array(x)
    made[..., :1], made[..., -1:] = largest, np.inf
    return made


def _with_integers(
    rng: np.random.Generator, usual: Array, kind: str, least: int, most: int
) -> Array:
    named = partial(np.array, dtype=usual.dtype)
    made: dict[str, Callable[[], Array]] = {
        "extremes": lambda: rng.choice(named([least, most, 0, 1, most - 1]), usual.shape),
        # One number in f64.
        "neighbours": lambda: rng.choice(named([most, most - 1, most - 2]), usual.shape),
        "equal": lambda: np.full(usual.shape, usual.flat[0]),
        "negative": lambda: rng.integers(max(least, -9), 0, usual.shape, endpoint=True),
    }
    return np.asarray(made[kind]()).astype(usual.dtype)

"""Sums, extremes and orders along axes, softmax, random arrays; no result is of 0 axes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import byparts_opset as ops
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.ops.entry import dtype_name, op
from byparts_frontend_mxnet.random import stream


def _at_least_1d(y: Any) -> Any:
    """A number as MXNet has it: an array of one element."""
    return ops.reshape(y, (1,)) if y.type.rank == 0 else y


def _axes(axis: Any, rank: int, exclude: bool = False) -> Any:
    axes = None if axis is None or axis == () else (axis,) if isinstance(axis, int) else axis
    if exclude and axes is not None:
        named = {a % rank for a in axes}
        return tuple([a for a in range(rank) if a not in named])
    return axes


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(
        data: Any, *, axis: Any = None, keepdims: bool = False, exclude: bool = False
    ) -> Any:
        return _at_least_1d(function(data, _axes(axis, data.type.rank, exclude), keepdims))

    return reduce


def _without_nan(x: Any, instead: float) -> Any:
    return ops.where(ops.is_nan(x), ops.fill_like(x, instead), x)


for _names, _function in {
    ("sum", "sum_axis"): ops.sum,
    ("max", "max_axis"): ops.max,
    ("min", "min_axis"): ops.min,
    ("mean",): ops.mean,
    ("prod",): ops.prod,
    ("nansum",): lambda x, axes, keep: ops.sum(_without_nan(x, 0), axes, keep),
    ("nanprod",): lambda x, axes, keep: ops.prod(_without_nan(x, 1), axes, keep),
}.items():
    op(*_names)(_reduction(_function))


@op("norm")
def norm(data: Any, *, ord: int = 2, axis: Any = None, keepdims: bool = False) -> Any:
    """The Euclidean length, or with ord=1 the sum of sizes; of all elements by default."""
    axes = _axes(axis, data.type.rank)
    if ord == 1:
        return _at_least_1d(ops.sum(ops.abs(data), axes, keepdims))
    return _at_least_1d(ops.sqrt(ops.sum(ops.square(data), axes, keepdims)))


def _index_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def index(data: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        x = ops.reshape(data, (-1,)) if axis is None else data
        return _at_least_1d(ops.cast(function(x, axis or 0, keepdims), "f32"))

    return index


op("argmax")(_index_of(ops.argmax))
op("argmin")(_index_of(ops.argmin))


@op("argmax_channel")
def argmax_channel(data: Any) -> Any:
    """The index of the largest element of each row."""
    return ops.cast(ops.argmax(data, 1), "f32")


@op("sort")
def sort(data: Any, *, axis: Any = -1, is_ascend: bool = True) -> Any:
    """The elements in order along an axis."""
    x, along = (ops.reshape(data, (-1,)), 0) if axis is None else (data, axis)
    return ops.sort(x, along, not is_ascend)


@op("argsort")
def argsort(data: Any, *, axis: Any = -1, is_ascend: bool = True) -> Any:
    """The indices that put the elements in order along an axis."""
    x, along = (ops.reshape(data, (-1,)), 0) if axis is None else (data, axis)
    return ops.cast(ops.argsort(x, along, not is_ascend), "f32")


@op("topk", outputs=lambda p: ("output0", "output1") if p["ret_typ"] == "both" else ("output",))
def topk(
    data: Any, *, axis: Any = -1, k: int = 1, ret_typ: str = "indices", is_ascend: bool = False
) -> Any:
    """The k largest along an axis: "indices", "value", "both", or a "mask" of 0 and 1."""
    x, along = (ops.reshape(data, (-1,)), 0) if axis is None else (data, axis % data.type.rank)
    order = ops.argsort(x, along, not is_ascend)[(slice(None),) * along + (slice(k or None),)]
    if ret_typ == "mask":
        hot = ops.one_hot(order, x.type.dims[along])
        rest = tuple([a for a in range(x.type.rank) if a != along])
        mask = ops.transpose(ops.sum(hot, along), (*range(len(rest)), len(rest)))
        order_back = [*range(along), len(rest), *range(along, len(rest))]
        return ops.reshape(ops.transpose(mask, order_back), data.type.dims)
    values, indices = ops.take_along_axis(x, order, along), ops.cast(order, "f32")
    return {"value": values, "indices": indices, "both": (values, indices)}[ret_typ]


@op("softmax")
def softmax(data: Any, *, axis: int = -1, temperature: Any = None) -> Any:
    """Positive numbers whose sum along an axis is 1."""
    return ops.softmax(data / temperature if temperature else data, axis)


@op("log_softmax")
def log_softmax(data: Any, *, axis: int = -1, temperature: Any = None) -> Any:
    """The logarithm of softmax."""
    return ops.log_softmax(data / temperature if temperature else data, axis)


@op("SoftmaxActivation")
def softmax_activation(data: Any, *, mode: str = "instance") -> Any:
    """Softmax over all of each example, or over its channels."""
    if mode == "channel":
        return ops.softmax(data, 1)
    rows = ops.reshape(data, (data.type.dims[0], -1))
    return ops.reshape(ops.softmax(rows, -1), data.type.dims)


@op("cumsum")
def cumsum(data: Any, *, axis: int = 0) -> Any:
    """Sums of the first elements along an axis."""
    return ops.cumsum(data, axis)


def _shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape) or (1,)


@op("_random_uniform", "random_uniform", "uniform")
def random_uniform(
    *, low: float = 0.0, high: float = 1.0, shape: Any = (), dtype: Any = "float32"
) -> Any:
    """Numbers of [low, high), each as likely."""
    return stream.uniform(_shape(shape), low, high, dtype_name(dtype))


@op("_random_normal", "random_normal", "normal")
def random_normal(
    *, loc: float = 0.0, scale: float = 1.0, shape: Any = (), dtype: Any = "float32"
) -> Any:
    """Normal numbers of mean `loc` and standard deviation `scale`."""
    return stream.normal(_shape(shape), loc, scale, dtype_name(dtype))


@op("_random_randint", "random_randint", "randint")
def random_randint(*, low: int, high: int, shape: Any = (), dtype: Any = "int32") -> Any:
    """Whole numbers of [low, high)."""
    return stream.integers(low, high, _shape(shape), dtype_name(dtype))


@op("_random_exponential", "random_exponential", "exponential")
def random_exponential(*, lam: float = 1.0, shape: Any = (), dtype: Any = "float32") -> Any:
    """Numbers of the density lam exp(-lam x)."""
    u = stream.uniform(_shape(shape), 0.0, 1.0, dtype_name(dtype))
    return ops.log(1 - u) * (-1 / lam)


@op("_sample_multinomial", "sample_multinomial", "multinomial")
def sample_multinomial(data: Any, *, shape: Any = (), get_prob: bool = False) -> Any:
    """Indices drawn with the probabilities of each row; one, or `shape` of them."""
    if get_prob:
        raise MXNetError("sample_multinomial: get_prob=True; use pick on the log of data")
    count = prod(shape) if isinstance(shape, tuple) else shape
    rows = ops.reshape(data, (-1, 1, data.type.dims[-1]))
    ends = ops.cumsum(rows, 2)
    u = stream.uniform((rows.type.dims[0], count, 1))
    drawn = ops.sum(ops.cast(ops.greater(u, ends), "i32"), 2)
    drawn = ops.minimum(drawn, data.type.dims[-1] - 1)
    tail = (shape,) if isinstance(shape, int) else shape
    return ops.reshape(drawn, (*data.type.dims[:-1], *tail) or (1,))


@op("shuffle", "_shuffle")
def shuffle(data: Any) -> Any:
    """The rows in random order."""
    return ops.gather(data, stream.permutation(data.type.dims[0]))


@op("_zeros")
def zeros(*, shape: Any = (), dtype: Any = "float32") -> Any:
    """An array of 0."""
    return ops.zeros(_shape(shape), dtype_name(dtype))


@op("_ones")
def ones(*, shape: Any = (), dtype: Any = "float32") -> Any:
    """An array of 1."""
    return ops.ones(_shape(shape), dtype_name(dtype))


@op("_full")
def full(*, shape: Any = (), value: float = 0.0, dtype: Any = "float32") -> Any:
    """An array of one number."""
    return ops.broadcast_to(ops.fill(value, dtype_name(dtype)), _shape(shape))


@op("_arange", "arange")
def arange(
    *, start: float = 0, stop: Any = None, step: float = 1.0, repeat: int = 1,
    dtype: Any = "float32",
) -> Any:  # fmt: skip
    """Numbers from start up to stop, each `repeat` times."""
    start, stop = (0, start) if stop is None else (start, stop)
    y = ops.arange(start, stop, step, dtype_name(dtype))
    return ops.repeat(y, repeat) if repeat > 1 else y

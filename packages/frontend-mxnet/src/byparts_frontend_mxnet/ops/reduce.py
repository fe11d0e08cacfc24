"""Sums, extremes and orders along axes, softmax, random arrays; no result is of 0 axes."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import byparts_opset as ops
from byparts_frontend_mxnet.ops.entry import dtype_name, op, op_table
from byparts_frontend_mxnet.stream import stream


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
    return lambda data, *, axis=None, keepdims=False, exclude=False: _at_least_1d(
        function(data, _axes(axis, data.type.rank, exclude), keepdims)
    )


def _index_of(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda data, *, axis=None, keepdims=False: _at_least_1d(
        ops.cast(function(*_line(data, axis), keepdims), "f32")
    )


def _line(data: Any, axis: Any) -> tuple[Any, int]:
    """The array and an axis, or the flat array."""
    return (ops.reshape(data, (-1,)), 0) if axis is None else (data, axis % data.type.rank)


def _without_nan(x: Any, instead: float) -> Any:
    return ops.where(ops.is_nan(x), ops.fill_like(x, instead), x)


def _shape(shape: Any) -> tuple[int, ...]:
    return (shape,) if isinstance(shape, int) else tuple(shape) or (1,)


op_table(
    {
        "sum sum_axis": _reduction(ops.sum),
        "max max_axis": _reduction(ops.max),
        "min min_axis": _reduction(ops.min),
        "mean": _reduction(ops.mean),
        "prod": _reduction(ops.prod),
        "nansum": _reduction(lambda x, axes, keep: ops.sum(_without_nan(x, 0), axes, keep)),
        "nanprod": _reduction(lambda x, axes, keep: ops.prod(_without_nan(x, 1), axes, keep)),
        "argmax": _index_of(ops.argmax),
        "argmin": _index_of(ops.argmin),
        "argmax_channel": lambda data: ops.cast(ops.argmax(data, 1), "f32"),
        "norm": lambda data, *, ord=2, axis=None, keepdims=False: _at_least_1d(
            ops.norm(data, ord, _axes(axis, data.type.rank), keepdims)
        ),
        "sort": lambda data, *, axis=-1, is_ascend=True: ops.sort(
            *_line(data, axis), not is_ascend
        ),
        "argsort": lambda data, *, axis=-1, is_ascend=True: ops.cast(
            ops.argsort(*_line(data, axis), not is_ascend), "f32"
        ),
        "softmax": lambda data, *, axis=-1, temperature=None: ops.softmax(
            data / temperature if temperature else data, axis
        ),
        "log_softmax": lambda data, *, axis=-1, temperature=None: ops.log_softmax(
            data / temperature if temperature else data, axis
        ),
        "cumsum": lambda data, *, axis=0: ops.cumsum(data, axis),
        "_random_uniform random_uniform uniform": (
            lambda *, low=0.0, high=1.0, shape=(), dtype="float32": stream.uniform(
                _shape(shape), low, high, dtype_name(dtype)
            )
        ),
        "_random_normal random_normal normal": (
            lambda *, loc=0.0, scale=1.0, shape=(), dtype="float32": stream.normal(
                _shape(shape), loc, scale, dtype_name(dtype)
            )
        ),
        "_random_randint random_randint randint": (
            lambda *, low, high, shape=(), dtype="int32": stream.integers(
                low, high, _shape(shape), dtype_name(dtype)
            )
        ),
        "_random_exponential random_exponential exponential": (
            lambda *, lam=1.0, shape=(), dtype="float32": (
                ops.log(1 - stream.uniform(_shape(shape), 0, 1, dtype_name(dtype))) * (-1 / lam)
            )
        ),
        "shuffle _shuffle": lambda data: ops.gather(data, stream.permutation(data.type.dims[0])),
        "_zeros": lambda *, shape=(), dtype="float32": ops.zeros(_shape(shape), dtype_name(dtype)),
        "_ones": lambda *, shape=(), dtype="float32": ops.ones(_shape(shape), dtype_name(dtype)),
        "_full": lambda *, shape=(), value=0.0, dtype="float32": ops.broadcast_to(
            ops.fill(value, dtype_name(dtype)), _shape(shape)
        ),
    }
)


@op("topk", outputs=lambda p: ("output0", "output1") if p["ret_typ"] == "both" else ("output",))
def topk(
    data: Any, *, axis: Any = -1, k: int = 1, ret_typ: str = "indices", is_ascend: bool = False
) -> Any:
    """The k largest along an axis: "indices", "value", "both", or a "mask" of 0 and 1."""
    x, along = _line(data, axis)
    order = ops.argsort(x, along, not is_ascend)[(slice(None),) * along + (slice(k or None),)]
    if ret_typ == "mask":
        hot = ops.sum(ops.one_hot(order, x.type.dims[along]), along)  # the classes are last
        last = x.type.rank - 1
        mask = ops.transpose(hot, [*range(along), last, *range(along, last)])
        return ops.reshape(mask, data.type.dims)
    values, indices = ops.take_along_axis(x, order, along), ops.cast(order, "f32")
    return {"value": values, "indices": indices, "both": (values, indices)}[ret_typ]


@op("SoftmaxActivation")
def softmax_activation(data: Any, *, mode: str = "instance") -> Any:
    """Softmax over all of each example, or over its channels."""
    if mode == "channel":
        return ops.softmax(data, 1)
    rows = ops.reshape(data, (data.type.dims[0], -1))
    return ops.reshape(ops.softmax(rows, -1), data.type.dims)


@op(
    "_sample_multinomial", "sample_multinomial", "multinomial",
    outputs=lambda p: ("output0", "output1") if p["get_prob"] else ("output",),
)  # fmt: skip
def sample_multinomial(data: Any, *, shape: Any = (), get_prob: bool = False) -> Any:
    """Indices drawn with the probabilities of each row; `get_prob` adds the log of theirs."""
    tail = (shape,) if isinstance(shape, int) else shape
    rows = ops.reshape(data, (-1, 1, data.type.dims[-1]))
    u = stream.uniform((rows.type.dims[0], prod(tail), 1))
    drawn = ops.sum(ops.cast(ops.greater(u, ops.cumsum(rows, 2)), "i32"), 2)
    drawn = ops.minimum(drawn, data.type.dims[-1] - 1)
    dims = (*data.type.dims[:-1], *tail) or (1,)
    indices = ops.reshape(drawn, dims)
    if not get_prob:
        return indices
    chosen = ops.take_along_axis(ops.reshape(rows, (-1, data.type.dims[-1])), drawn, 1)
    return indices, ops.reshape(ops.log(chosen), dims)


@op("_arange", "arange")
def arange(
    *, start: float = 0, stop: Any = None, step: float = 1.0, repeat: int = 1,
    dtype: Any = "float32",
) -> Any:  # fmt: skip
    """Numbers from start up to stop, each `repeat` times."""
    start, stop = (0, start) if stop is None else (start, stop)
    y = ops.arange(start, stop, step, dtype_name(dtype))
    return ops.repeat(y, repeat) if repeat > 1 else y

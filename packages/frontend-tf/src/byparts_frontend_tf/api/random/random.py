"""Random tensors: uniform, normal, truncated, shuffled, drawn by probabilities.

A draw is a pure function of a key and a counter.  The key comes from the seeds (`graph/seeds.py`);
the counter is state of the operation in a session, advanced each time it is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_tf.api.math.binary import add_v2
from byparts_frontend_tf.api.range import range as range_
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.infer import like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.seeds import get_seed as seeds, stream_key
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, float32, float64, int64
from byparts_tf_files.shape import Dims

_FEW_ROWS = 512  # that are put in order in the graph, which takes the square of their number
Draw = Callable[..., Value]  # (key, counter, shape, dtype) -> value


class Random(Kind):
    """A kind that draws numbers.

    Args:
        type: TensorFlow's name.
        draw: gives the value: (key, counter, shape, *other values, dtype, **attributes).
        from_shape: whether input 0 is a shape; else `draw` gets its value.
    """

    __slots__ = ("_draw", "_from_shape")

    def __init__(
        self,
        type: str,
        draw: Draw,
        from_shape: bool = True,
        shape: Any = None,
        gradient: bool = False,
    ) -> None:
        super().__init__(
            type,
            special=self._lower,
            shape=shape or _named,
            dtype=lambda inputs, dtype, **_: dtype,
            gradient=gradient,
        )
        self._draw, self._from_shape = draw, from_shape

    def seeded(
        self, *inputs: Tensor, name: Any, seed: Any, dtype: DType, **attributes: Any
    ) -> Tensor:
        """An operation with a stream of its own."""
        key, fixed = stream_key(get_default_graph(), seed)
        return self(*inputs, name=name, dtype=dtype, key=key, fixed=fixed, **attributes)

    def _lower(self, lowering: Any, op: Operation) -> Value:
        key, counter = lowering.stream(op)
        given = {k: v for k, v in op.attributes.items() if k not in ("key", "fixed")}
        if not self._from_shape:
            return self._draw(key, counter, *lowering.values(op.inputs, op), **given)
        shape = tuple([int(d) for d in lowering.number(op.inputs[0], op)])
        return self._draw(key, counter, shape, *lowering.values(op.inputs[1:], op), **given)


def _named(inputs: Sequence[Tensor], **_: Any) -> Dims:
    return static_dims(inputs[0])


def _uniform(key: Value, counter: Value, shape: Any, dtype: DType, low: Any, high: Any) -> Value:
    if dtype.is_integer:
        return ops.random_int(key, counter, shape, int(low), int(high), dtype.own)
    if low == high:
        return ops.fill(float(low), dtype.own, shape)
    return ops.random_uniform(key, counter, shape, float(low), float(high), dtype.own)


def _normal(key: Value, counter: Value, shape: Any, dtype: DType) -> Value:
    return ops.random_normal(key, counter, shape, dtype=dtype.own)


def _truncated(key: Value, counter: Value, shape: Any, dtype: DType) -> Value:
    return ops.truncated_normal(key, counter, shape, dtype=dtype.own)


def _integers(
    key: Value, counter: Value, shape: Any, low: Value, high: Value, dtype: DType
) -> Value:
    u = ops.random_uniform(key, counter, shape, dtype="f64")
    span = ops.cast(high - low, "f64")
    return ops.cast(ops.floor(u * span), dtype.own) + low


UNIFORM = Random("RandomUniform", _uniform)
UNIFORM_INT = Random("RandomUniformInt", _integers)
NORMAL = Random("RandomStandardNormal", _normal)
TRUNCATED = Random("TruncatedNormal", _truncated)


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float)) or (
        hasattr(given, "item") and not isinstance(given, Tensor) and getattr(given, "ndim", 0) == 0
    )


@symbol("random_uniform", "random.uniform")
def random_uniform(
    shape: TensorLike,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Numbers of [minval, maxval), all alike likely.

    Raises:
        ValueError: integers without `maxval`; or another dtype.
    """
    dtype = as_dtype(dtype).base_dtype
    if not (dtype.is_floating or dtype in (int64, as_dtype("int32"))):
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform") as scope:
        size = _vector(shape)
        if dtype.is_integer and _is_number(minval) and _is_number(maxval):
            return UNIFORM.seeded(size, name=scope, seed=seed, dtype=dtype, low=minval, high=maxval)
        low, high = convert_to_tensor(minval, dtype, "min"), convert_to_tensor(maxval, dtype, "max")
        if dtype.is_integer:
            return UNIFORM_INT.seeded(size, low, high, name=scope, seed=seed, dtype=dtype)
        u = UNIFORM.seeded(size, name=None, seed=seed, dtype=dtype, low=0.0, high=1.0)
        return add_v2(u * (high - low), low, name=scope)


@symbol("random_normal", "random.normal")
def random_normal(
    shape: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: Any = float32,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Normal numbers."""
    return _located(NORMAL, "random_normal", shape, mean, stddev, dtype, seed, name)


@symbol("truncated_normal", "random.truncated_normal")
def truncated_normal(
    shape: TensorLike,
    mean: TensorLike = 0.0,
    stddev: TensorLike = 1.0,
    dtype: Any = float32,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Normal numbers that are less than two standard deviations from the mean."""
    return _located(TRUNCATED, "truncated_normal", shape, mean, stddev, dtype, seed, name)


@symbol("python.ops.random_ops.parameterized_truncated_normal")
def parameterized_truncated_normal(
    shape: TensorLike,
    means: TensorLike = 0.0,
    stddevs: TensorLike = 1.0,
    minvals: TensorLike = -2.0,
    maxvals: TensorLike = 2.0,
    dtype: Any = float32,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Normal numbers between bounds; the parameters are numbers, or one for each row of `shape`."""
    with name_scope(name, "parameterized_truncated_normal"):
        dtype = as_dtype(dtype).base_dtype
        drawn = random_uniform(shape, dtype=dtype, seed=seed)
        mean, scale, low, high = (
            convert_to_tensor(p, dtype) for p in (means, stddevs, minvals, maxvals)
        )
        rows = [(p if p.dims == () else p[:, None]) for p in (mean, scale, low, high)]
        made: Tensor = _BETWEEN(drawn, *rows)
        return made


def _between(u: Value, mean: Value, scale: Value, low: Value, high: Value) -> Value:
    first, last = (ops.cast((bound - mean) / scale, "f64") for bound in (low, high))
    turned = first > 0  # where erf is near 1, its other tail is exact
    first, last = ops.select(turned, -last, first), ops.select(turned, -first, last)
    root = 0.5**0.5
    below, above = (0.5 * ops.erfc(-root * bound) for bound in (first, last))
    z = ops.erfinv(2 * (below + ops.cast(u, "f64") * (above - below)) - 1) / root
    z = ops.minimum(ops.maximum(z, first), last)
    return mean + scale * ops.cast(ops.select(turned, -z, z), u.type.dtype)


_BETWEEN = Kind("TruncatedTo", _between, shape=like_first, gradient=False)


def _vector(shape: Any) -> Tensor:
    """A shape as a tensor.

    Raises:
        ValueError: it is a number.
    """
    if isinstance(shape, int) or getattr(shape, "dims", None) == ():
        raise ValueError("Shape must be rank 1 but is rank 0 for the shape of what is drawn")
    return shape_tensor(shape)


def _located(
    kind: Random, what: str, shape: Any, mean: Any, stddev: Any, dtype: Any, seed: Any, name: Any
) -> Tensor:
    dtype = as_dtype(dtype).base_dtype
    with name_scope(name, what) as scope:
        size, middle = _vector(shape), convert_to_tensor(mean, dtype, "mean")
        scale = convert_to_tensor(stddev, dtype, "stddev")
        drawn = kind.seeded(size, name=None, seed=seed, dtype=dtype)
        return add_v2(drawn * scale, middle, name=scope)


def _shuffled(key: Value, counter: Value, x: Value, dtype: DType) -> Value:
    n = x.type.dims[0]
    if n < 2:
        return ops.identity(x)
    _, order = ops.top_k(ops.random_uniform(key, counter, (n,), dtype="f64"), n)
    return ops.gather(x, order)


SHUFFLE = Random("RandomShuffle", _shuffled, from_shape=False, shape=like_first, gradient=True)
_IN_ORDER = Kind("RandomShuffle", host=lambda x, order: x[order], shape=like_first, gradient=False)


@symbol("random_shuffle", "random.shuffle")
def random_shuffle(
    value: TensorLike, seed: Optional[int] = None, name: Optional[str] = None
) -> Tensor:
    """The rows of a tensor in an order by chance."""
    x = convert_to_tensor(value)
    if x.dims and (x.dims[0] or 0) > _FEW_ROWS:
        from byparts_frontend_tf.api.gather import gather  # many modules, for few programs
        from byparts_frontend_tf.api.sort import argsort

        with name_scope(name, "RandomShuffle", [x]):
            size = shape_tensor([x.dims[0]])
            u = UNIFORM.seeded(size, name=None, seed=seed, dtype=float64, low=0.0, high=1.0)
            made: Tensor = gather(x, argsort(u))
            return made
    if x.dtype.base_dtype.own:
        return SHUFFLE.seeded(x, name=name, seed=seed, dtype=x.dtype.base_dtype)
    with name_scope(name, "RandomShuffle", [x]) as scope:
        places = range_(shape_of(x)[0])
        order = SHUFFLE.seeded(places, name="order", seed=seed, dtype=places.dtype)
        return _IN_ORDER(x, order, name=scope)


def _categories(key: Value, counter: Value, shape: Any, logits: Value, dtype: DType) -> Value:
    """By Gumbel's trick: the greatest of logits - log(-log u)."""
    batch, classes = logits.type.dims
    u = ops.random_uniform(key, counter, (batch, shape[0], classes), dtype=logits.type.dtype)
    noise = -ops.log(-ops.log(ops.maximum(u, 1e-37 if logits.type.dtype == "f32" else 1e-300)))
    found = ops.argmax(ops.expand_dims(logits, 1) + noise, -1)
    return found if dtype is int64 else ops.cast(found, dtype.own)


def _categories_shape(inputs: Sequence[Tensor], **_: Any) -> Dims:
    logits = inputs[1].dims
    count = static_dims(inputs[0])
    return (None if logits is None else logits[0], None if count is None else count[0])


CATEGORIES = Random("Multinomial", _categories, shape=_categories_shape)


@symbol("multinomial", "random.multinomial")
def multinomial(
    logits: TensorLike,
    num_samples: TensorLike,
    seed: Optional[int] = None,
    name: Optional[str] = None,
    output_dtype: Any = None,
) -> Tensor:
    """Classes drawn by the softmax of each row of logits: [batch, num_samples]."""
    count = reshape(convert_to_tensor(num_samples), [1])
    dtype = int64 if output_dtype is None else as_dtype(output_dtype)
    x = convert_to_tensor(logits)
    if x.dims is not None and len(x.dims) != 2:
        raise ValueError(f"Shape must be rank 2 but is rank {len(x.dims)} for 'Multinomial'")
    with name_scope(name, "multinomial"):
        return CATEGORIES.seeded(count, x, name="Multinomial", seed=seed, dtype=dtype)


@symbol("random.categorical")
def categorical(
    logits: TensorLike,
    num_samples: TensorLike,
    dtype: Any = None,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Draw class numbers as `multinomial` does."""
    return multinomial(logits, num_samples, seed, name, dtype)


@symbol("get_seed", "random.get_seed")
def get_seed(op_seed: Optional[int]) -> tuple[Optional[int], Optional[int]]:
    """TensorFlow's two seeds of an operation made now."""
    return seeds(get_default_graph(), op_seed)

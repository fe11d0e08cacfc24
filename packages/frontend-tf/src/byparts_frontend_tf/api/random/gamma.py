"""Draws whose size is not known before: gamma, Poisson, binomial, multinomial.

Gamma numbers are drawn in the graph, by the method of Marsaglia and Tsang 2000 with a fixed number
of proposals, of which the first that is accepted counts: the chance that none is, is below 1e-9.
The gradient is that of the accepted proposal; what acceptance itself depends on is left out
(Naesseth et al. 2017 show that it is small).  Counts are drawn on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.broadcast_to import broadcast_to
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.math.binary import maximum
from byparts_frontend_tf.api.random.random import Random, random_uniform
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.strided_slice import slice_
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.seeds import stream_key
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.running.signals import OnHost
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dtypes import DType, as_dtype, float32

_PROPOSALS = 8


def _gamma(key: Value, counter: Value, shape: Any, alpha: Value, dtype: DType) -> Value:
    """Gamma numbers of these shapes, with rate 1; alpha: [shape]."""
    small = alpha < 1
    d = ops.select(small, alpha + 1, alpha) - 1 / 3
    c = 1 / ops.sqrt(9 * d)
    more = (_PROPOSALS, *shape)
    keys = [key + i for i in range(3)]
    z = ops.random_normal(keys[0], counter, more, dtype=dtype.own)
    u = ops.random_uniform(keys[1], counter, more, dtype=dtype.own)
    v = (1 + c * z) ** 3
    least = 1e-37 if dtype.own == "f32" else 1e-300
    inside = ops.log(ops.maximum(v, least))
    fits = ops.log(ops.maximum(u, least)) < 0.5 * z * z + d - d * v + d * inside
    accepted = ops.logical_and(v > 0, fits)
    first = ops.argmax(ops.cast(accepted, "i32"), 0)
    chosen = ops.equal(
        ops.reshape(ops.arange(0, _PROPOSALS, dtype="i64"), [-1, *[1] * len(shape)]), first
    )
    zero = ops.fill(0, dtype.own)
    drawn = ops.sum(ops.select(chosen, ops.select(accepted, d * v, zero), zero), [0])
    boost = ops.random_uniform(keys[2], counter, shape, dtype=dtype.own)
    power = ops.exp(ops.log(ops.maximum(boost, least)) / ops.select(small, alpha, 1 + 0 * alpha))
    return ops.select(small, drawn * power, drawn)


GAMMA = Random("RandomGamma", _gamma, gradient=True)


@symbol("random_gamma", "random.gamma")
def random_gamma(
    shape: TensorLike,
    alpha: TensorLike,
    beta: Any = None,
    dtype: Any = float32,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Gamma numbers: for each alpha, `shape` of them: [shape, alpha's shape]."""
    with name_scope(name, "random_gamma"):
        kind = as_dtype(dtype).base_dtype
        a = convert_to_tensor(alpha, kind, "alpha")
        rate = convert_to_tensor(1 if beta is None else beta, kind, "beta")
        a = a + 0 * rate
        size = concat([shape_tensor(shape), shape_of(a)], 0)
        drawn = GAMMA.seeded(size, broadcast_to(a, size), name=None, seed=seed, dtype=kind)
        least = convert_to_tensor(np.finfo(kind.as_numpy_dtype).tiny, kind)
        made: Tensor = maximum(drawn, least) / rate
        return made


class HostRandom(Kind):
    """A kind that draws on the host.

    Args:
        type: TensorFlow's name.
        draw: (NumPy's generator, *arrays, **attributes) -> an array for each output.
        shape: as of `Kind`.
    """

    __slots__ = ("_draw",)

    def __init__(self, type: str, draw: Callable[..., Any], shape: Any) -> None:
        super().__init__(
            type,
            special=self._lower,
            shape=shape,
            dtype=lambda inputs, dtype, **_: dtype,
            gradient=False,
        )
        self._draw = draw

    def seeded(
        self, *inputs: Tensor, name: Any, seed: Any, dtype: Any, **attributes: Any
    ) -> tuple[Tensor, ...]:
        """The outputs of an operation with a stream of its own."""
        key, fixed = stream_key(get_default_graph(), seed)
        return self.outputs(*inputs, name=name, dtype=dtype, key=key, fixed=fixed, **attributes)

    def _lower(self, lowering: Any, op: Operation) -> None:
        if lowering.outer is not None:
            raise OnHost(op, "it draws on the host")
        key, counter = lowering.stream(op)

        given = {k: v for k, v in op.attributes.items() if k not in ("dtype", "fixed", "key")}

        def function(key: Any, counter: Any, *arrays: Any) -> Any:
            words = [int(key) & (2**64 - 1), int(counter) & (2**64 - 1)]
            return self._draw(np.random.Generator(np.random.Philox(key=words)), *arrays, **given)

        dtypes = [t.dtype.as_numpy_dtype for t in op.outputs]
        lowering.call(op, function, [key, counter, *op.inputs], dtypes)


def _drawn_shape(inputs: Sequence[Tensor], **_: Any) -> Any:
    return static_dims(inputs[0])


POISSON = HostRandom("RandomPoisson", lambda g, shape, rate: g.poisson(rate, shape), _drawn_shape)


@symbol("random_poisson", "random.poisson")
def random_poisson(
    lam: TensorLike,
    shape: TensorLike,
    dtype: Any = float32,
    seed: Optional[int] = None,
    name: Optional[str] = None,
) -> Tensor:
    """Counts: for each rate, `shape` of them: [shape, rates' shape]."""
    with name_scope(name, "random_poisson"):
        rate = convert_to_tensor(lam)
        size = concat([shape_tensor(shape), shape_of(rate)], 0)
        return POISSON.seeded(size, rate, name=None, seed=seed, dtype=as_dtype(dtype))[0]


def _counts(g: Any, shape: Any, total: Any, probs: Any) -> Any:
    """Multinomial counts [shape]; total: [batch], probs: [batch, classes]."""
    p = np.asarray(probs, np.float64)
    p = p / p.sum(-1, keepdims=True)
    return g.multinomial(np.asarray(total, np.int64), p, tuple(shape[:-1]))


COUNTS = HostRandom("MultinomialCounts", _counts, _drawn_shape)


@symbol("random_crop", "image.random_crop", "random.random_crop")
def random_crop(
    value: TensorLike, size: TensorLike, seed: Optional[int] = None, name: Optional[str] = None
) -> Tensor:
    """A piece of `size` from any place.

    Raises at run time:
        InvalidArgumentError: the piece is larger than the whole.
    """
    with name_scope(name, "random_crop"):
        x = convert_to_tensor(value)
        piece = shape_tensor(size)
        limit = shape_of(x) - piece + 1
        ends = as_dtype("int32").max
        offset = random_uniform(shape_of(piece), 0, ends, dtype="int32", seed=seed) % limit
        made: Tensor = slice_(x, offset, piece)
        return made


SYMBOLS = {"distributions.random_gamma": "random_gamma"}

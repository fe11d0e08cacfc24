"""Normal draws: functions of `RandomUniform`, element by element, so in any order."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Value
from byparts_opset.draw import FloatDraw, Shape, Stream, draw, known_shape, numbers
from byparts_opset.dtypes import Array, numpy_dtype


class RandomNormal(FloatDraw):
    """y = sqrt(-2 log(1 - u)) cos(2 pi v): standard normal, by Box and Muller 1958.

    Inputs as `RandomUniform`.  Element i takes the uniforms 2i and 2i + 1 of the stream as u and v;
    half types are computed in f32.
    """

    def evaluate(self, key: Array, counter: Array, *like: Array) -> tuple[Array, ...]:
        shape = numbers(self.shape, like)
        (pairs,) = ops.RandomUniform((*shape, 2), self.wide_dtype).evaluate(key, counter)
        u, v = np.moveaxis(pairs.astype(np.float64), -1, 0)
        y = np.sqrt(-2 * np.log1p(-u)) * np.cos(2 * np.pi * v)
        return (np.asarray(y).astype(numpy_dtype(self.dtype)),)

    def decompose(self, key: Value, counter: Value, *like: Value) -> tuple[Value, ...] | None:
        shape = known_shape(self.shape, like)
        if shape is None:
            return None
        pairs = ops.RandomUniform((*shape, 2), self.wide_dtype)(key, counter)
        u, v = pairs[..., 0], pairs[..., 1]
        return (ops.cast(ops.sqrt(ops.log(1.0 - u) * -2.0) * ops.cos(v * (2 * np.pi)), self.dtype),)


# sqrt(2) erfinv(x) / x as a polynomial in -log(1 - x^2), lowest power first, on |x| <= erf(sqrt 2).
# Ours: Chebyshev interpolation in 50 digits; relative error 4e-8 and 2e-16.  (The variable is that
# of Giles 2010, "Approximating the erfinv function", whose polynomials reach further than 2 sigma.)
POLYNOMIAL_F32 = (
    *(1.253314095866267741, 0.3281185615232345877, 0.01632177137645533441),
    *(-0.003272422264483343071, -0.000219349550332112442, 9.208817006898173756e-5),
    -6.55786845476413802e-6,
)
POLYNOMIAL_F64 = (
    *(1.253314137315500497, 0.3281168738691713492, 0.0163332361484150856),
    *(-0.003302332428121816751, -0.0001810804555963078946, 6.591812263760796313e-5),
    *(2.857701675657465073e-6, -1.433654498440821067e-6, -5.076783327202098042e-8),
    *(3.060179999194586119e-8, 2.011332098569645509e-9, -1.109596043540911505e-9),
    *(6.396687613597062667e-11, 9.659958819982596976e-12, -1.062524641245739711e-12),
)
WITHIN_TWO = 0.9544997361036415855994347  # erf(sqrt(2)): the mass of a normal within 2 sigma


class TruncatedNormal(FloatDraw):
    """y = sqrt(2) erfinv((2u - 1) erf(sqrt 2)): standard normal given |y| <= 2, exactly within.

    Inputs as `RandomUniform`, of which element i takes uniform i; half types are computed in f32.
    The inverse of the distribution, not redrawing, so that element i needs nothing of the others.
    """

    def evaluate(self, key: Array, counter: Array, *like: Array) -> tuple[Array, ...]:
        shape = numbers(self.shape, like)
        (u,) = ops.RandomUniform(shape, self.wide_dtype).evaluate(key, counter)
        normal = NormalDist()
        p = 0.5 + (u.reshape(-1).astype(np.float64) - 0.5) * WITHIN_TWO
        y = np.array([normal.inv_cdf(q) for q in p.tolist()]).clip(-2, 2)
        return (y.reshape(shape).astype(numpy_dtype(self.dtype)),)

    def decompose(self, key: Value, counter: Value, *like: Value) -> tuple[Value, ...] | None:
        shape = known_shape(self.shape, like)
        if shape is None:
            return None
        x = (ops.RandomUniform(shape, self.wide_dtype)(key, counter) - 0.5) * (2 * WITHIN_TWO)
        w = -ops.log(1.0 - x * x)
        highest, *rest = reversed(POLYNOMIAL_F64 if self.dtype == "f64" else POLYNOMIAL_F32)
        y = w * highest + rest[0]
        for c in rest[1:]:
            y = y * w + c
        return (ops.cast(ops.minimum(ops.maximum(y * x, -2.0), 2.0), self.dtype),)


def random_normal(
    key: Stream,
    counter: Stream,
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: str = "f32",
) -> Value:
    """Draw from the normal distribution with this mean and standard deviation."""
    return _scaled(draw(RandomNormal(None, dtype), key, counter, shape), mean, stddev)


def truncated_normal(
    key: Stream,
    counter: Stream,
    shape: Shape,
    mean: float = 0.0,
    stddev: float = 1.0,
    dtype: str = "f32",
) -> Value:
    """Draw from the normal distribution truncated to 2 `stddev` around `mean`."""
    return _scaled(draw(TruncatedNormal(None, dtype), key, counter, shape), mean, stddev)


def _scaled(y: Value, mean: float, stddev: float) -> Value:
    y = y if stddev == 1 else y * stddev
    return y if mean == 0 else y + mean

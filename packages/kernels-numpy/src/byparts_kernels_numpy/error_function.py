"""erf, erfc and erfinv, which NumPy lacks.

f32 erf is tanh(x * p(x^2)): tanh flattens the error of p where erf nears 1, and knows no overflow.
p is our own fit, weighted for relative error; 1.5e-7 at most.  f64 erf and erfc are the rational
approximations of W. J. Cody (Rational Chebyshev approximations for the error function, Math. Comp.
23, 1969), in three ranges of |x|; erfinv is M. J. Wichura's normal quantile (AS 241, Applied
Statistics 37, 1988).  Every range is computed for all and the right one kept: no element branches.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from byparts_graph_ir.backend.kernel import Run, Workspace
from byparts_kernels_numpy.blocks import in_double_blocks, in_wide_blocks
from byparts_kernels_numpy.table import kernels
from byparts_opset.dtypes import Array
from byparts_opset.error_function import Erf, Erfc, Erfinv

# Highest power first, as Horner wants them.
BEND = (
    *(5.42349481e-09, 2.75258131e-08, -4.7941099e-06, 8.45942935e-05),
    *(-0.000614833049, -0.000195293654, 0.102769866, 1.12837925),
)
# |x| <= 0.46875: erf(x) = x * p(x^2) / q(x^2).
NEAR = (
    (
        *(1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2),
        *(3.77485237685302021e2, 3.20937758913846947e3),
    ),
    (
        *(1.0, 2.36012909523441209e1, 2.44024637934444173e2),
        *(1.28261652607737228e3, 2.84423683343917062e3),
    ),
)
# 0.46875 <= |x| <= 4: erfc(|x|) = e^(-x^2) * p(|x|) / q(|x|).
MIDDLE = (
    (
        *(2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0),
        *(6.61191906371416295e1, 2.98635138197400131e2, 8.81952221241769090e2),
        *(1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3),
    ),
    (
        *(1.0, 1.57449261107098347e1, 1.17693950891312499e2),
        *(5.37181101862009858e2, 1.62138957456669019e3, 3.29079923573345963e3),
        *(4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3),
    ),
)
# |x| >= 4: erfc(|x|) = e^(-x^2) / |x| * (1 / sqrt(pi) - u * p(u) / q(u)), u = 1 / x^2.
FAR = (
    (
        *(1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1),
        *(1.25781726111229246e-1, 1.60837851487422766e-2, 6.58749161529837803e-4),
    ),
    (
        *(1.0, 2.56852019228982242e0, 1.87295284992346047e0),
        *(5.27905102951428412e-1, 6.05183413124413191e-2, 2.33520497626869185e-3),
    ),
)
# The quantile of the normal distribution: centre, and two ranges of the tail.
CENTRE = (
    (
        *(2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4),
        *(4.5921953931549871457e4, 1.3731693765509461125e4, 1.9715909503065514427e3),
        *(1.3314166789178437745e2, 3.3871328727963666080e0),
    ),
    (
        *(5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4),
        *(2.1213794301586595867e4, 5.3941960214247511077e3, 6.8718700749205790830e2),
        *(4.2313330701600911252e1, 1.0),
    ),
)
TAIL = (
    (
        *(7.7454501427834140764e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1),
        *(1.27045825245236838258e0, 3.64784832476320460504e0, 5.76949722146069140550e0),
        *(4.63033784615654529590e0, 1.42343711074968357734e0),
    ),
    (
        *(1.05075007164441684324e-9, 5.475938084995344946e-4, 1.51986665636164571966e-2),
        *(1.48103976427480074590e-1, 6.89767334985100004550e-1, 1.67638483018380384940e0),
        *(2.05319162663775882187e0, 1.0),
    ),
)
END = (
    (
        *(2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3),
        *(2.65321895265761230930e-2, 2.96560571828504891230e-1, 1.78482653991729133580e0),
        *(5.46378491116411436990e0, 6.65790464350110377720e0),
    ),
    (
        *(2.04426310338993978564e-15, 1.4215117583164458887e-7, 1.84631831751005468180e-5),
        *(7.86869131145613259100e-4, 1.48753612908506148525e-2, 1.36929880922735805310e-1),
        *(5.99832206555887937690e-1, 1.0),
    ),
)


@kernels.on(Erf, workspace=True)
def erf(op: Erf, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    (y,) = outputs
    if y.dtype == np.float64:
        return in_double_blocks(partial(erf_double, False), inputs, y, workspace, 4)
    return in_wide_blocks(erf_single, inputs, y, workspace, 2)


@kernels.on(Erfc, workspace=True)
def erfc(op: Erfc, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace) -> Run:
    return in_double_blocks(partial(erf_double, True), inputs, outputs[0], workspace, 4)


@kernels.on(Erfinv, workspace=True)
def erfinv(
    op: Erfinv, inputs: Sequence[Array], outputs: Sequence[Array], workspace: Workspace
) -> Run:
    return in_double_blocks(_erfinv, inputs, outputs[0], workspace, 4)


def erf_single(x: Array, y: Array, square: Array, bend: Array) -> None:
    """To f32's precision; y may be x."""
    np.multiply(x, x, square)
    _horner(BEND, square, bend)
    np.multiply(bend, x, bend)
    np.tanh(bend, y)


def erf_double(
    complement: bool, x: Array, y: Array, size: Array, p: Array, q: Array, u: Array
) -> None:
    """erf(x), or 1 - erf(x), to f64's precision; all arrays are distinct."""
    np.absolute(x, size)
    np.minimum(size, 30.0, out=size)  # erfc(30) is 0 in f64, and inf - inf would be nan below
    _tail(y, size, p, q, u)
    if complement:
        np.subtract(2.0, y, p)
        _select(y, p, np.less, x, 0.0, u)
    else:
        np.subtract(1.0, y, y)
        np.copysign(y, x, y)
    np.multiply(x, x, u)
    _ratio(NEAR, u, p, q)
    np.multiply(p, x, p)
    if complement:
        np.subtract(1.0, p, p)
    _select(y, p, np.less_equal, size, 0.46875, u)


def _tail(y: Array, size: Array, p: Array, q: Array, u: Array) -> None:
    """y = erfc(size), for size above 0.46875."""
    _ratio(MIDDLE, size, y, q)
    np.multiply(size, size, u)
    np.reciprocal(u, u)
    _ratio(FAR, u, p, q)
    np.multiply(p, u, p)
    np.subtract(1 / math.sqrt(math.pi), p, p)
    np.divide(p, size, p)
    _select(y, p, np.greater, size, 4.0, u)
    # e^(-size^2) in two factors: the first has an exact square, the second is near 1.
    np.multiply(size, 16.0, p)
    np.trunc(p, p)
    np.divide(p, 16.0, p)
    np.subtract(size, p, q)
    np.add(size, p, u)
    np.multiply(q, u, q)
    for part in (np.multiply(p, p, p), q):
        np.negative(part, part)
        np.exp(part, part)
        np.multiply(y, part, y)


def _erfinv(x: Array, y: Array, size: Array, p: Array, q: Array, u: Array) -> None:
    np.absolute(x, size)
    np.subtract(1.0, size, u)
    np.multiply(u, 0.5, u)
    np.log(u, u)
    np.negative(u, u)
    np.sqrt(u, u)
    np.subtract(u, 5.0, p)
    _ratio(END, p, y, q)
    np.subtract(u, 1.6, size)
    _ratio(TAIL, size, p, q)
    _select(y, p, np.less_equal, u, 5.0, q)
    np.copysign(y, x, y)
    np.multiply(x, 0.5, size)
    np.multiply(size, size, u)
    np.subtract(0.180625, u, u)
    _ratio(CENTRE, u, p, q)
    np.multiply(p, size, p)
    np.absolute(size, size)
    _select(y, p, np.less_equal, size, 0.425, u)
    np.multiply(y, math.sqrt(0.5), y)
    np.copysign(math.inf, x, p)
    _select(y, p, np.equal, size, 0.5, u)


def _ratio(
    table: tuple[tuple[float, ...], tuple[float, ...]], u: Array, p: Array, q: Array
) -> None:
    """p = the ratio of two polynomials at u."""
    _horner(table[0], u, p)
    _horner(table[1], u, q)
    np.divide(p, q, p)


def _horner(coefficients: tuple[float, ...], u: Array, y: Array) -> None:
    np.multiply(u, coefficients[0], y)
    for c in coefficients[1:-1]:
        np.add(y, c, y)
        np.multiply(y, u, y)
    np.add(y, coefficients[-1], y)


def _select(y: Array, p: Array, test: np.ufunc, x: Array, bound: float, spare: Array) -> None:
    """y = p where `test(x, bound)` is true, else y; overwrites `spare`, whose bytes hold the mask.

    All arrays are of one shape and dtype.
    """
    mask = spare.reshape(-1).view(np.bool_)[: spare.size].reshape(spare.shape)
    test(x, bound, mask)
    np.copyto(y, p, where=mask)

"""`tf.contrib.integrate`: solutions of ordinary differential equations at given times.

`odeint` is the method of Dormand and Prince 1980 of order 5, with steps chosen by its error of
order 4, and a polynomial of order 4 between steps (Shampine 1986); those of `odeint_fixed` are
equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.map_fn import scan
from byparts_frontend_tf.api.math.binary import logical_and, maximum, minimum
from byparts_frontend_tf.api.math.reduce import reduce_mean
from byparts_frontend_tf.api.math.unary import absolute, ceil, sqrt, square
from byparts_frontend_tf.api.shape import size
from byparts_frontend_tf.api.tensor_array import TensorArray
from byparts_frontend_tf.api.where import where_v2
from byparts_frontend_tf.api.while_loop import while_loop
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float64, int32

Slope = Callable[[Any, Any], Any]
_ALPHA = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
_BETA: tuple[tuple[float, ...], ...] = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
_ERROR = (
    *(35 / 384 - 1951 / 21600, 0, 500 / 1113 - 22642 / 50085, 125 / 192 - 451 / 720),
    *(-2187 / 6784 + 12231 / 42400, 11 / 84 - 649 / 6300, -1 / 60),
)
_MIDDLE = (
    *(6025192743 / 30085553152 / 2, 0, 51252292925 / 65400821598 / 2),
    *(-2691868925 / 45128329728 / 2, 187940372067 / 1594534317056 / 2),
    *(-1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2),
)


class _State(NamedTuple):
    """After a step from t0 to t1: value and slope at t1, the next step, the polynomial between."""

    y: Any
    f: Any
    t0: Any
    t1: Any
    dt: Any
    polynomial: Any


def _weighted(factors: Sequence[float], parts: Sequence[Any], scale: Any = 1.0) -> Any:
    total: Any = None
    for factor, part in zip(factors, parts, strict=True):
        if factor:
            term = (scale * factor) * part
            total = term if total is None else total + term
    return total


def _polynomial(y0: Any, y1: Any, slopes: Sequence[Any], dt: Any) -> list[Any]:
    """A polynomial between two values, of them, slopes and the middle; highest power first."""
    middle = y0 + _weighted(_MIDDLE, slopes, dt)
    parts = [dt * slopes[0], dt * slopes[-1], y0, y1, middle]
    rows = (-2, 2, -8, -8, 16), (5, -3, 18, 14, -32), (-4, 1, -11, -5, 16)
    return [*[_weighted(row, parts) for row in rows], parts[0], identity(y0)]


class _Solver:
    def __init__(self, func: Slope, options: dict[str, Any], rtol: Any, atol: Any) -> None:
        self._func, self._rtol, self._atol = func, rtol, atol
        self._first = options.pop("first_step", None) or 1.0
        self._safety, self._grow = options.pop("safety", 0.9), options.pop("ifactor", 10.0)
        self._shrink, self._most = options.pop("dfactor", 0.2), options.pop("max_num_steps", 1000)
        if options:
            raise TypeError(f"odeint: unexpected options {sorted(options)}")

    def start(self, y0: Tensor, t: Tensor) -> _State:
        """The state before the first step."""
        first = cast(self._first, t.dtype)
        return _State(y0, self._func(y0, t[0]), t[0], t[0], first, [y0] * 5)

    def step(self, state: _State, count: Any) -> tuple[_State, Any]:
        """A step, kept if its error is small enough; the next is as long as the error allows."""
        y0, f0, _, t0, dt, _ = state
        step = cast(dt, y0.dtype)
        slopes = [f0]
        for alpha, beta in zip(_ALPHA, _BETA, strict=True):
            y1 = y0 + _weighted(beta, slopes, step)
            slopes.append(self._func(y1, t0 + alpha * dt))
        allowed = self._atol + self._rtol * maximum(absolute(y0), absolute(y1))
        error = sqrt(reduce_mean(square(_weighted(_ERROR, slopes, step)) / square(allowed)))
        fits = error <= 1.0
        news = [y1, slopes[-1], t0 + dt, *_polynomial(y0, y1, slopes, step)]
        olds = [y0, f0, t0, *state.polynomial]
        y, f, t1, *polynomial = (where_v2(fits, a, b) for a, b in zip(news, olds, strict=True))
        slower = cast(error, dt.dtype) ** 0.2 / self._safety
        factor = maximum(minimum(slower, 1.0 / self._shrink), 1.0 / self._grow)
        return _State(y, f, t0, t1, dt / factor, polynomial), count + 1

    def until(self, state: _State, t: Any) -> tuple[_State, Any]:
        """The state after the step that passes a time, and the value then; NaN if none does."""

        def goes_on(state: _State, count: Any) -> Any:
            return logical_and(t > state.t1, count < self._most)

        state, _ = while_loop(goes_on, self.step, (state, 0))
        x = cast((t - state.t0) / (state.t1 - state.t0), state.y.dtype)
        y = state.polynomial[0]
        for c in state.polynomial[1:]:
            y = y * x + c
        return state, where_v2(t > state.t1, y * 0 + np.nan, y)


@symbol("contrib.integrate.odeint")
def odeint(
    func: Slope,
    y0: Any,
    t: Any,
    rtol: float = 1e-6,
    atol: float = 1e-12,
    method: Optional[str] = None,
    options: Optional[dict[str, Any]] = None,
    full_output: bool = False,
    name: Optional[str] = None,
) -> Any:
    """The values of y, with y' = func(y, t), at times: [times, shape of y0].

    Args:
        func: takes y and a time, gives a slope in the shape of y.
        y0: the value at the first time.
        t: times, growing.
        rtol: relative error allowed in a step.
        atol: absolute error allowed in a step.
        method: "dopri5", the only one.
        options: `first_step`, `safety`, `ifactor`, `dfactor`, `max_num_steps` between two times;
            where these are not enough, the values are NaN.
        full_output: refused.
        name: of the operations.

    Raises:
        ValueError: options without a method, or another method.
        NotImplementedError: `full_output`.
    """
    if method is None and options is not None:
        raise ValueError("cannot supply `options` without specifying `method`")
    if method not in (None, "dopri5"):
        raise ValueError(f"invalid method: {method!r}")
    if full_output:
        raise NotImplementedError("odeint: full_output is not here")
    with name_scope(name, "odeint", [y0, t]):
        start = convert_to_tensor(y0, name="y0")
        times = convert_to_tensor(t, None, "t", preferred_dtype=float64)
        solver = _Solver(func, dict(options or {}), rtol, atol)
        count = size(times)
        values = TensorArray(start.dtype.base_dtype, size=count, infer_shape=True).write(0, start)

        def later(values: Any, state: _State, i: Any) -> Any:
            state, y = solver.until(state, times[i])
            return values.write(i, y), state, i + 1

        last = while_loop(
            lambda values, state, i: i < count, later, (values, solver.start(start, times), 1)
        )
        return last[0].stack()


def _midpoint(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    half = cast(dt, y.dtype) / 2
    return y + cast(dt, y.dtype) * func(y + half * func(y, t), t + dt / 2)


def _runge_kutta(func: Slope, y: Any, t: Any, dt: Any) -> Any:
    step = cast(dt, y.dtype)
    k1 = func(y, t)
    k2 = func(y + step * k1 / 2, t + dt / 2)
    k3 = func(y + step * k2 / 2, t + dt / 2)
    return y + step * (k1 + 2 * k2 + 2 * k3 + func(y + step * k3, t + dt)) / 6


@symbol("contrib.integrate.odeint_fixed")
def odeint_fixed(
    func: Slope, y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: Optional[str] = None
) -> Any:
    """Integrate as `odeint`, by equal steps not longer than `dt`; by default one between times.

    Args:
        func: takes y and a time, gives a slope in the shape of y.
        y0: the value at the first time.
        t: times, growing.
        dt: the longest step.
        method: "rk4" or "midpoint".
        name: of the operations.

    Raises:
        ValueError: another method.
    """
    steps = {"rk4": _runge_kutta, "midpoint": _midpoint}
    if method not in steps:
        raise ValueError(f"method not supported: {method}")
    with name_scope(name, "odeint_fixed", [y0, t, dt]):
        start = convert_to_tensor(y0, name="y0")
        times = convert_to_tensor(t, None, "t", preferred_dtype=float64)
        spans = times[1:] - times[:-1]
        counts = spans * 0 + 1 if dt is None else ceil(spans / cast(dt, times.dtype))

        def later(y: Any, row: Any) -> Any:
            begin, span, count = row
            step = span / count

            def one(i: Any, y: Any) -> Any:
                return i + 1, steps[method](func, y, begin + cast(i, step.dtype) * step, step)

            return while_loop(lambda i, y: i < cast(count, int32), one, (0, y))[1]

        return concat([start[None], scan(later, (times[:-1], spans, counts), start)], 0)

"""f16 and bf16: conversions over all bit patterns, and which operations round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emitters import each_emitter
from together import Together

from byparts_tensor_ir.build import build
from byparts_tensor_ir.expression import HALVES, Expr, const, nearest_half, variable
from byparts_tensor_ir.functions import bitcast, call, cast, maximum, minimum, select, unary
from byparts_tensor_ir.interpret import NUMPY, interpret
from byparts_tensor_ir.statement import Buffer, For, Func, Store, loops
from byparts_tensor_ir.target import TARGETS, lacking
from byparts_tensor_ir.tensor import MAX, SUM

pytest.importorskip("ml_dtypes")
each_half = pytest.mark.parametrize("half", HALVES)
each_target = pytest.mark.parametrize("name", [t.name for t in TARGETS if not lacking(t)])


def _all(half: str) -> Any:
    return np.arange(1 << 16, dtype=np.uint16).view(NUMPY[half])


def _near(half: str) -> Any:
    """All numbers of f32 at which rounding to the half changes, with their neighbours."""
    with np.errstate(all="ignore"):
        exact = _all(half).astype(np.float32)
        up = np.nextafter(_all(half), NUMPY[half](np.inf)).astype(np.float32)
        top = np.float32(2.0**15 * 2 if half == "f16" else 2.0**127)  # the next is infinite
        up = np.where(np.isinf(up) & np.isfinite(exact), top, up)
        ties = exact / 2 + up / 2 if half == "bf16" else (exact + up) / 2
        near = [exact, ties, np.nextafter(ties, np.inf), np.nextafter(ties, -np.inf)]
        special = np.array([65520, 65519.996, 1e30, 3.4e38, 1e-45, 6e-8, 2.98e-8], np.float32)
        return np.concatenate([*near, special, -special], dtype=np.float32)


def _bits(x: Any) -> Any:
    """The bits, of a NaN its sign alone: what else it has is open."""
    kind = np.uint16 if x.dtype.itemsize == 2 else np.uint32
    nan = np.where(np.signbit(x), kind(1), kind(0))
    return np.where(np.isnan(x), nan, x.view(kind))


def _map(a: str, b: str, n: int, rule: Any) -> Func:
    x, y, i = Buffer("x", (const(n),), a), Buffer("y", (const(n),), b), variable("i", n)
    body = (For(i, (Store("y", (y,), (i,), (rule(x[i]),)),), "vectorize"),)
    return Func("f", (x, y), (y,), (), body)


def _convert(a: str, b: str, n: int, kind: str) -> Func:
    """From dtype a to b, in vectors or number by number."""
    func = _map(a, b, n, lambda x: cast(x, b))
    (loop,) = loops(func)
    return func if kind == "vectorize" else func.with_body([For(loop.var, loop.body)])


_LENGTHS = {half: (len(_all(half)) - 5, len(_near(half))) for half in HALVES}
_CONVERT = Together(
    _convert,
    [
        (None, (*way, kind))
        for half, (all_, near) in _LENGTHS.items()
        for way in ((half, "f32", all_), ("f32", half, near))
        for kind in ("vectorize", "serial")
    ],
)


def _check(run: Any, x: Any, wanted: Any) -> None:
    y = np.zeros(wanted.shape, wanted.dtype)
    run(x, y)
    np.testing.assert_array_equal(_bits(y), _bits(wanted))


@each_half
@each_emitter
@each_target
def test_conversions(name: str, emitter: str, half: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All halves to f32, and to halves what is at or beside a tie; vectors, a rest, and numbers."""
    monkeypatch.setenv("BYPARTS_TARGET", name)
    every, near = _all(half)[:-5], _near(half)
    with np.errstate(all="ignore"):
        wide, narrow = every.astype(np.float32), near.astype(NUMPY[half])
    for x, y, dtypes in ((every, wide, (half, "f32")), (near, narrow, ("f32", half))):
        _check(_CONVERT.build(emitter, None, *dtypes, len(x), "vectorize"), x, y)
        _check(_CONVERT.build(emitter, None, *dtypes, len(x), "serial"), x, y)


@each_half
@each_emitter
def test_what_is_rounded_is_read_rounded(emitter: str, half: str) -> None:
    x = _near(half)
    with np.errstate(all="ignore"):
        y = x.astype(NUMPY[half])
        thrice = y.astype(np.float32) * np.float32(3)
    func = _map("f32", "f32", len(x), lambda e: cast(cast(e, half), "f32") * 3.0)
    _check(build(func, emitter=emitter), x, thrice)
    finite = x[np.isfinite(x)]
    with np.errstate(all="ignore"):
        bits = finite.astype(NUMPY[half]).view(np.int16)
    func = _map("f32", "i16", len(finite), lambda e: bitcast(cast(e, half), "i16"))
    _check(build(func, emitter=emitter), finite, bits)
    func = _map("i16", half, len(x), lambda e: bitcast(e, half))
    _check(build(func, emitter=emitter), y.view(np.int16), y)


@each_half
def test_constants_round_as_numpy_has_it(half: str) -> None:
    for x in _near(half)[::7]:
        with np.errstate(all="ignore"):
            wanted = float(x.astype(NUMPY[half]))
        got = nearest_half(float(x), half)
        assert np.array_equal(got, wanted, equal_nan=True) and np.signbit(got) == np.signbit(wanted)


@each_emitter
def test_f64_is_rounded_once(emitter: str) -> None:
    """f32 would make a tie of it first."""
    x = np.array([1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-11 - 2.0**-40, -1 - 2.0**-11, 1e-320, 1e300])
    x = np.concatenate([x, -x, [np.nan, np.inf, 65520 - 1e-9, 65520]])
    with np.errstate(all="ignore"):
        wanted = x.astype(np.float16)
    func = _map("f64", "f16", len(x), lambda e: cast(e, "f16"))
    _check(build(func, emitter=emitter), x, wanted)
    y = np.zeros(len(x), np.float16)
    interpret(func, x, y)
    np.testing.assert_array_equal(_bits(y), _bits(wanted))
    above = np.array([1 + 2.0**-8 + 2.0**-40])
    func = _map("f64", "bf16", 1, lambda e: cast(e, "bf16"))
    _check(build(func, emitter=emitter), above, np.array([1 + 2.0**-7], NUMPY["bf16"]))


def test_what_is_exact_is_not_rounded() -> None:
    """Of halves alone: no cast is left.  Others are computed in f32, and rounded once."""
    x, y = (Buffer(name, (const(4),), "bf16")[0] for name in "xy")
    exact = (maximum(x, 0.0), select(x < y, x, -y), unary("floor", unary("abs", x)))
    assert [e.dtype for e in exact] == ["bf16"] * 3 and "cast" not in str(exact)
    wide = select(cast(x, "f32") < 0.0, const(0.5, "f32"), cast(y, "f32"))
    assert str(cast(wide, "bf16")) == "select(cast(x[0], f32) < 0.0, 0.5, y[0])"
    assert str(x + y) == "cast(cast(x[0], f32) + cast(y[0], f32), bf16)"
    assert str(call("exp", x)) == "cast(exp(cast(x[0], f32)), bf16)"
    assert str(cast(cast(x, "f32") + 0.0, "bf16")).startswith("cast(")


_ELEMENTS: dict[str, Callable[[Expr, Expr, Expr], Expr]] = {
    "sum": lambda x, y, i: x * y + x,
    "quotient": lambda x, y, i: x / y,
    "extremes": lambda x, y, i: maximum(minimum(x, y), -x),
    "select": lambda x, y, i: select((x < y) | x.equal(1.0), unary("abs", x), y - 1.0),
    "roundings": lambda x, y, i: unary("rint", x * 3.0) - unary("floor", y),
    "functions": lambda x, y, i: call("tanh", x) + unary("sqrt", unary("abs", y)),
    "of i32": lambda x, y, i: cast(cast(x * 8.0, "i32") + cast(i, "i32"), x.dtype),
    "of f64": lambda x, y, i: cast(cast(x, "f64") / 3.0, x.dtype) * y,
    "of bool": lambda x, y, i: cast(x <= y, x.dtype) - x,
}


def _elementwise(name: str, half: str, n: int, step: int) -> Func:
    """From the arrays a, and b backwards, each `step`-th element of z."""
    a, b = Buffer("A", (const(n),), half), Buffer("B", (const(n),), half)
    z, i = Buffer("z", (const(n),), half), variable("i", n // step)
    value = _ELEMENTS[name](a[i * step], b[n - 1 - i], i)
    body = (For(i, (Store("z", (z,), (i * step,), (value,)),), "vectorize"),)
    return Func("f", (a, b, z), (z,), (), body)


_ELEMENTWISE = Together(
    _elementwise,
    [(None, (name, half, 43, step)) for name in _ELEMENTS for half in HALVES for step in (1, 2)],
)


@each_half
@each_emitter
@pytest.mark.parametrize("name", _ELEMENTS)
def test_elements(name: str, emitter: str, half: str) -> None:
    """Vectors and a rest; and with a step of two, element by element."""
    n, random = 43, np.random.default_rng(3)
    x, y = (random.normal(0, 2, n).astype(NUMPY[half]) for _ in range(2))
    for step in (1, 2):
        func = _elementwise(name, half, n, step)
        wanted, got = (np.zeros(n, NUMPY[half]) for _ in range(2))
        interpret(func, x, y, wanted)
        _ELEMENTWISE.build(emitter, None, name, half, n, step)(x, y, got)
        ulp = 1 if name == "functions" else 0  # the interpreter has them exact
        apart = np.abs(_ordered(got) - _ordered(wanted))
        assert apart.max() <= ulp, (func, got, wanted)


def _ordered(x: Any) -> Any:
    """Neighbours as neighbouring numbers."""
    bits = x.view(np.int16).astype(int)
    return np.where(bits < 0, -(bits & 0x7FFF), bits)


@each_half
@each_emitter
def test_reductions_over_lanes(emitter: str, half: str) -> None:
    """A sum in f32, rounded once; one in halves, rounded at each step; the greatest."""
    n = 77
    x, i = Buffer("x", (const(n),), half), variable("i", n)
    t, u, g = (
        Buffer("t", (const(1),), "f32"),
        Buffer("u", (const(1),), half),
        Buffer("g", (const(1),), half),
    )
    body = (
        Store("t", (t,), (const(0),), (cast(x[i], "f32"),), SUM, (i,), True),
        Store("u", (u,), (const(0),), (x[i],), SUM, (i,), True),
        Store("g", (g,), (const(0),), (x[i],), MAX, (i,), True),
    )
    func = Func("f", (x, t, u, g), (t, u, g), (), (For(i, body, "vectorize"),))
    data = (1 + np.random.default_rng(0).random(n)).astype(NUMPY[half])
    got = [np.zeros(1, NUMPY[d]) for d in ("f32", half, half)]
    build(func, emitter=emitter)(data, *got)
    exact = data.astype(np.float64).sum()
    assert abs(got[0][0] - exact) < 1e-5 * exact
    assert abs(float(got[1][0]) - exact) < 0.1 * exact and float(got[1][0]) != exact
    assert got[2][0] == data.max()

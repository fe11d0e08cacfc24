"""Small tensor programs, with NumPy's answer to each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from byparts_tensor_ir import tensor as te
from byparts_tensor_ir.expression import as_expr
from byparts_tensor_ir.functions import call, cast, maximum, select
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.statement import Func
from byparts_tensor_ir.tensor import compute, placeholder, reduce_axis, var

Array = Any
Program = tuple[Func, list[Array], Callable[..., Sequence[Array]]]


def matmul(m: int = 5, n: int = 7, k: int = 6) -> Program:
    a, b = placeholder((m, k), "A"), placeholder((k, n), "B")
    r = reduce_axis(k, "k")
    c = compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), "C")
    return lower([a, b, c], "matmul"), [_random(m, k), _random(k, n)], lambda x, y: [x @ y]


def chain(m: int = 6, n: int = 9) -> Program:
    a = placeholder((m, n), "A")
    b = compute((m, n), lambda i, j: a[i, j] * 2.0 + 1.0, "B")
    c = compute((m, n), lambda i, j: maximum(b[i, j], 0.0) - b[i, j] * a[i, j], "C")
    x = _random(m, n)
    y = x * np.float32(2) + np.float32(1)
    return lower([a, c], "chain"), [x], lambda x: [np.maximum(y, 0) - y * x]


def blur(n: int = 21) -> Program:
    a = placeholder((n,), "A")
    b = compute((n - 2,), lambda i: a[i] + a[i + 1] + a[i + 2], "B")
    c = compute((n - 4,), lambda i: b[i] + b[i + 1] + b[i + 2], "C")

    def answer(x: Array) -> list[Array]:
        y = x[:-2] + x[1:-1] + x[2:]
        return [y[:-2] + y[1:-1] + y[2:]]

    return lower([a, c], "blur"), [_random(n)], answer


def conv(size: int = 7, taps: int = 3) -> Program:
    x, w = placeholder((size, size), "X"), placeholder((taps, taps), "W")
    pad = taps // 2
    rows, cols = reduce_axis(taps, "r"), reduce_axis(taps, "s")
    padded = compute(
        (size + 2 * pad, size + 2 * pad),
        lambda i, j: select(
            (as_expr(pad) <= i) & (i < size + pad) & (as_expr(pad) <= j) & (j < size + pad),
            x[i - pad, j - pad],
            0.0,
        ),
        "P",
    )
    y = compute(
        (size, size),
        lambda i, j: te.sum(padded[i + rows, j + cols] * w[rows, cols], axis=(rows, cols)),
        "Y",
    )

    def answer(a: Array, b: Array) -> list[Array]:
        p = np.pad(a, pad)
        parts = [p[r : r + size, s : s + size] * b[r, s] for r in range(taps) for s in range(taps)]
        return [np.sum(parts, axis=0)]

    return lower([x, w, y], "conv"), [_random(size, size), _random(taps, taps)], answer


def softmax(m: int = 4, n: int = 19) -> Program:
    x = placeholder((m, n), "X")
    j = reduce_axis(n, "j")
    k = reduce_axis(n, "k")
    top = compute((m,), lambda i: te.max(x[i, j], axis=j), "T")
    e = compute((m, n), lambda i, c: call("exp", x[i, c] - top[i]), "E")
    total = compute((m,), lambda i: te.sum(e[i, k], axis=k), "S")
    y = compute((m, n), lambda i, c: e[i, c] / total[i], "Y")

    def answer(a: Array) -> list[Array]:
        b = np.exp(a - a.max(1, keepdims=True))
        return [b / b.sum(1, keepdims=True)]

    return lower([x, y], "softmax"), [_random(m, n)], answer


def cumulative(m: int = 6, n: int = 5) -> Program:
    x, s = placeholder((m, n), "X"), placeholder((m, n), "S")
    first = compute((1, n), lambda t, i: x[t, i], "I")
    later = compute((m, n), lambda t, i: s[t - 1, i] + x[t, i], "U")
    y = te.scan(first, later, s)
    return lower([x, y], "cumulative"), [_random(m, n)], lambda a: [np.cumsum(a, 0)]


def positions(m: int = 5, n: int = 23) -> Program:
    x = placeholder((m, n), "X")
    j = reduce_axis(n, "j")
    y = compute((m,), lambda i: te.argmax(x[i, j], j), "Y")
    a = _random(m, n)
    a[1, [3, 9]] = 5  # the first of two counts
    a[2, [4, 6]] = np.nan
    return lower([x, *y.group], "positions"), [a], lambda a: [np.max(a, 1), np.argmax(a, 1)]


def gather(m: int = 6, n: int = 5, count: int = 11) -> Program:
    x, at = placeholder((m, n), "X"), placeholder((count,), "P", "i32")
    y = compute((count, n), lambda i, j: x[cast(at[i], "index"), j], "Y")
    places = np.random.default_rng(1).integers(0, m, count).astype(np.int32)
    return lower([x, at, y], "gather"), [_random(m, n), places], lambda a, b: [a[b]]


def symbolic(shape: tuple[int, int, int] = (3, 4, 5)) -> Program:
    m, n, h = var("m"), var("n"), var("h")
    a, b = placeholder((m, h), "A"), placeholder((n, h), "B")
    r = reduce_axis((0, h), "k")
    c = compute((m, n), lambda i, j: te.sum(a[i, r] * b[j, r], axis=r), "C")
    i, j, k = shape
    return lower([a, b, c], "dot"), [_random(i, k), _random(j, k)], lambda x, y: [x @ y.T]


PROGRAMS: dict[str, Callable[..., Program]] = {
    f.__name__: f
    for f in (matmul, chain, blur, conv, softmax, cumulative, positions, gather, symbolic)
}


def empty_outputs(func: Func, answers: Sequence[Array]) -> list[Array]:
    """Arrays full of garbage for what the function writes."""
    kinds = {"f32": np.float32, "i64": np.int64, "f64": np.float64}
    return [
        np.full(np.shape(a), 77, kinds[b.dtype]) for a, b in zip(answers, func.outputs, strict=True)
    ]


def _random(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)

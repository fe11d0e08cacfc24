"""Eigenvectors of symmetric matrices with the signs that TensorFlow's have.

A vector and its negative are both right.  TensorFlow 1.15 has those of Eigen's
`SelfAdjointEigenSolver`: reflections to a tridiagonal matrix, then QR steps with Wilkinson's shift
(Golub and Van Loan, algorithm 8.3.3), each with signs of its own.  The same steps, in the same
dtype, give the same signs: all in f64; in f32, where rounding decides how many steps there are, all
but 3 % of vectors up to 32 rows and 11 % up to 64.  Beyond 64 rows, and of complex numbers, vectors
are LAPACK's: O(n^2) turns of two rows take Python too long.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_MOST = 64  # rows


def eigen(a: Any) -> tuple[Any, Any]:
    """Eigenvalues [..., n], ascending, and vectors [..., n, n], as columns; of lower triangles."""
    values, vectors = np.linalg.eigh(a)
    n = a.shape[-1]
    if 0 < n <= _MOST and a.dtype.kind == "f":
        for at in np.ndindex(a.shape[:-2]):
            vectors[at] = _vectors(a[at])
    return values, vectors


def _vectors(a: Any) -> Any:
    number, info = a.dtype.type, np.finfo(a.dtype)
    a = np.tril(a)
    a = a / (np.abs(a).max() or number(1))
    a += np.tril(a, -1).T
    rows = _tridiagonal(a, number, info.tiny)
    d, e = list(np.diag(a)), list(np.diag(a, -1))
    start, end = 0, len(a) - 1
    for _ in range(30 * len(a)):
        for i in range(start, end):
            if abs(e[i]) <= max(2 * info.eps * (abs(d[i]) + abs(d[i + 1])), info.tiny):
                e[i] = number(0)
        while end and not e[end - 1]:
            end -= 1
        if not end:
            break
        start = end - 1
        while start and e[start - 1]:
            start -= 1
        _qr_step(d, e, start, end, rows)
    order = list(range(len(a)))
    for i in range(len(a)):  # as Eigen: equal values by exchanges
        k = min(range(i, len(a)), key=d.__getitem__)
        d[i], d[k], order[i], order[k] = d[k], d[i], order[k], order[i]
    return rows[order].T


def _tridiagonal(a: Any, number: Any, tiny: Any) -> Any:
    """Make `a` tridiagonal; the rows are what its axes were."""
    rows = np.eye(len(a), dtype=a.dtype)
    for i in range(len(a) - 2):
        v = a[i + 1 :, i].copy()
        tail = v[1:] @ v[1:]
        if tail <= tiny:
            continue
        beta = -np.copysign(np.sqrt(v[0] * v[0] + tail), v[0])
        tau = (beta - v[0]) / beta
        v[1:] /= v[0] - beta
        v[0] = 1
        rest = a[i + 1 :, i + 1 :]
        w = rest @ (tau * v)
        w += (number(-0.5) * tau * (w @ v)) * v
        rest -= np.outer(v, w) + np.outer(w, v)
        a[i + 1, i] = beta
        rows[i + 1 :] -= np.outer(tau * v, v @ rows[i + 1 :])
    return rows


def _qr_step(d: list[Any], e: list[Any], start: int, end: int, rows: Any) -> None:
    """Do an implicit QR step on a tridiagonal matrix (diagonal d, beside it e); rotate `rows`."""
    half, last = (d[end - 1] - d[end]) / 2, e[end - 1]
    turn = last * last / (half + np.copysign(np.hypot(half, last), half)) if half else abs(last)
    x, z = d[start] - (d[end] - turn), e[start]
    for k in range(start, end):
        c, s = _rotation(x, z)
        upper, lower = s * d[k] + c * e[k], s * e[k] + c * d[k + 1]
        d[k] = c * (c * d[k] - s * e[k]) - s * (c * e[k] - s * d[k + 1])
        d[k + 1], e[k] = s * upper + c * lower, c * upper - s * lower
        if k > start:
            e[k - 1] = c * e[k - 1] - s * z
        x = e[k]
        if k < end - 1:
            z, e[k + 1] = -s * e[k + 1], c * e[k + 1]
        rows[k : k + 2] = np.array([[c, -s], [s, c]], rows.dtype) @ rows[k : k + 2]


def _rotation(p: Any, q: Any) -> tuple[Any, Any]:
    """Cosine and sine that turn (p, q) to the first axis, with Eigen's signs."""
    if not q:
        return p * 0 + (1 if p >= 0 else -1), q
    if abs(p) > abs(q):
        t = q / p
        c = 1 / np.copysign(np.sqrt(1 + t * t), p)
        return c, -t * c
    t = p / q
    s = -1 / np.copysign(np.sqrt(1 + t * t), q)
    return -t * s, s

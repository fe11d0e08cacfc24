"""Convolutions with fewer multiplications, in shapes of all kinds, against `evaluate`."""

from __future__ import annotations

import re
import shutil
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from convolved import convolutions, result_of
from hypothesis import given, settings, strategies as st

import byparts_kernels_native as native
from byparts_kernels_native.convolution.minimal_filtering import POINTS, Statements, matrices
from byparts_tensor_ir.target import TARGETS, lacking
from byparts_tensor_ir.threads import threads as number_of_threads

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
long = pytest.mark.long
SIZES = [(n + 1 - r, r) for n in POINTS for r in range(2, n)]
NCHW, NHWC = "NCHW", "NHWC"
# padding, layout, x, filter: tiles of 4, 6 and 8; whole and partial ones; rest of lanes and rows;
# several groups of images; fewer channels than lanes
CASES = [
    (((1, 1), (1, 1)), NCHW, (4, 5, 16, 16), (20, 5, 3, 3)),
    (((0, 1), (2, 0)), NCHW, (3, 17, 9, 14), (7, 17, 3, 3)),
    (((1, 1), (1, 1)), NHWC, (2, 7, 10, 18), (3, 3, 18, 33)),
    (((0, 0), (0, 0)), NCHW, (10, 6, 12, 12), (9, 6, 5, 5)),
    (((2, 2), (2, 2)), NHWC, (1, 11, 9, 3), (5, 5, 3, 4)),
    (((1, 2), (0, 3)), NCHW, (1, 2, 11, 8), (3, 2, 4, 4)),
    (((3, 3), (3, 3)), NCHW, (2, 3, 9, 13), (2, 3, 7, 7)),
]


@pytest.mark.parametrize(("m", "r"), SIZES)
def test_the_matrices_give_sums_of_products(m: int, r: int) -> None:
    """In fractions: exactly."""
    a, g, b = matrices(m, r)
    x = [Fraction(7 * i * i - 3, 5) for i in range(m + r - 1)]
    w = [Fraction(3 - i**3, 2) for i in range(r)]

    terms = [u * v for u, v in zip(times(g, w), times(b, x), strict=True)]

    assert times(a, terms) == [sum(x[i + k] * w[k] for k in range(r)) for i in range(m)]


def times(matrix: list[list[Fraction]], x: list[Fraction]) -> list[Fraction]:
    return [sum((c * v for c, v in zip(row, x, strict=True)), Fraction(0)) for row in matrix]


@pytest.mark.parametrize(("m", "r"), SIZES)
def test_statements_multiply_by_the_matrix(m: int, r: int) -> None:
    """Read as Python, with fewer of them than elements of the matrix."""
    for matrix in matrices(m, r):
        x = np.random.default_rng(0).normal(size=len(matrix[0]))
        y = np.zeros(len(matrix))
        lines = [line.removeprefix("const V ").rstrip(";") for line in Statements(matrix).lines]
        text = re.sub(r"(\d)f\b", r"\1", "\n".join(lines).replace("V{} + ", ""))
        names: dict[str, Any] = {"x": 0, "y": 0, "s": 1, "t": 1, "load": x.item}
        names |= {"store": y.__setitem__, "multiply_add": lambda a, b, c: a * b + c}
        exec(text, names)  # statements that were made a line above

        np.testing.assert_allclose(y, np.array(matrix, float) @ x, rtol=1e-6)
        assert text.count(" * load") + text.count("multiply_add") < matrix_size(matrix)


def matrix_size(matrix: list[list[Fraction]]) -> int:
    """Elements that are not 0."""
    return sum(c != 0 for row in matrix for c in row)


def check(case: Any, constants: tuple[int, ...] = ()) -> None:
    """The convolution and its gradients are made by Winograd's method, and right.

    The error of a pixel is that of the tile it is in: at most 2^-18 of the largest sum of the absolute
    values of the terms.
    """
    padding, layout, *dims = case
    backend, random = native.make(), np.random.default_rng(1)
    todo = convolutions((((1, 1), padding, (1, 1), 1, layout), *dims, "f32"))
    for op, types in todo:
        constants_here = constants if len(types) == 2 else ()
        backend.compile(op, types, frozenset(constants_here))
    for op, types in todo:
        arrays = [random.normal(size=t.dims).astype(np.float32) for t in types]
        wide = [a.astype(np.float64) for a in arrays]
        (expected,), (size,) = op.evaluate(*wide), op.evaluate(*map(np.abs, wide))
        constants_here = constants if len(types) == 2 else ()
        kernel = backend.compile(op, types, frozenset(constants_here))
        assert "winograd" in kernel.source

        result = result_of(backend, op, types, arrays, constants_here)

        np.testing.assert_array_less(np.abs(result - expected), 2.0**-18 * size.max())


@needs_compiler
@pytest.mark.parametrize("case", [*CASES[:3], *[pytest.param(c, marks=long) for c in CASES[3:]]])
def test_convolutions_and_gradients(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_WINOGRAD", "1")
    check(case)


@long
@needs_compiler
@pytest.mark.parametrize("name", [t.name for t in TARGETS[1:] if lacking(t) == ()])
def test_on_lesser_targets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_TARGET", name)
    monkeypatch.setenv("BYPARTS_WINOGRAD", "1")
    check(CASES[1])
    check(CASES[3])


@needs_compiler
def test_a_constant_filter_is_transformed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_WINOGRAD", "1")
    check(CASES[0], (1,))


@needs_compiler
@pytest.mark.parametrize("case", [CASES[0], CASES[3]])
def test_threads_change_nothing(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_WINOGRAD", "1")
    padding, layout, *dims = case
    before = number_of_threads()
    for op, types in convolutions((((1, 1), padding, (1, 1), 1, layout), *dims, "f32")):
        arrays = [np.random.default_rng(2).normal(size=t.dims).astype(np.float32) for t in types]
        results = []
        try:
            for count in (1, 3):
                native.set_threads(count)
                results.append(result_of(native.make(), op, types, arrays))
        finally:
            native.set_threads(before)
        np.testing.assert_array_equal(*results)


@long
@needs_compiler
@given(
    st.tuples(*[st.sampled_from(range(1, 5))] * 2, *[st.sampled_from(range(1, 19))] * 4),
    st.sampled_from([3, 4, 5]),
    st.tuples(*[st.integers(0, 2)] * 4),
    st.sampled_from([NCHW, NHWC]),
)
@settings(deadline=None, max_examples=3)
def test_shapes_at_random(sizes: Any, r: int, around: Any, layout: str) -> None:
    n, _, c, k, h, w = sizes
    h, w = h + r, w + r
    x, filter = ((n, c, h, w), (k, c, r, r)) if layout == NCHW else ((n, h, w, c), (r, r, c, k))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BYPARTS_WINOGRAD", "1")
        check(((around[:2], around[2:]), layout, x, filter))


@needs_compiler
def test_it_is_taken_where_it_saves_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers of many channels, and not few, small, strided or large ones, nor on f64."""
    same = ((1, 1), (1, 1))
    plain, strided = ((1, 1), same, (1, 1), 1, NCHW), ((2, 2), same, (1, 1), 1, NCHW)
    layer = (8, 64, 16, 16), (64, 64, 3, 3)

    assert all("winograd" in source for source in sources((plain, *layer, "f32")))
    for other in (
        (plain, (8, 1, 16, 16), (8, 1, 3, 3), "f32"),
        (plain, (1, 3, 4, 4), (4, 3, 3, 3), "f32"),
        (strided, *layer, "f32"),
        (plain, *layer, "f64"),
        (plain, (1, 64, 500, 500), (64, 64, 3, 3), "f32"),  # 64 MB for copies of the images
    ):
        assert not any("winograd" in source for source in sources(other))
    monkeypatch.setenv("BYPARTS_WINOGRAD", "0")
    assert not any("winograd" in source for source in sources((plain, *layer, "f32")))


def sources(case: Any) -> list[str]:
    return [native.make().compile(op, types).source for op, types in convolutions(case)]

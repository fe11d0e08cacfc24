from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from matrix_runs import Array, computed, graph_of, run

import byparts_opset as ops
from byparts_autodiff import check_gradient
from byparts_graph_ir import Backend, GraphError, Value
from byparts_linalg import fft
from byparts_linalg.fourier import Norm, as_complex, as_pairs

NORMS: tuple[Norm, ...] = ("backward", "forward", "ortho")
few = settings(max_examples=25, deadline=None)


def numbers(*shape: int, seed: int = 0) -> Array:
    """Random pairs in f64."""
    return np.random.default_rng(seed).standard_normal((*shape, 2))


@few
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data(), st.sampled_from(NORMS))
def test_transforms_are_those_of_numpy(shape: list[int], data: st.DataObject, norm: str) -> None:
    x = numbers(*shape)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = data.draw(st.none() | st.integers(1, 6))
    for name in ("fft", "ifft", "irfft", "hfft"):
        if name in ("irfft", "hfft") and n is None and shape[axis] == 1:
            continue  # of no points
        f = partial(getattr(fft, name), n=n, axis=axis, norm=norm)
        want = getattr(np.fft, name)(as_complex(x), n, axis, norm)

        np.testing.assert_allclose(computed(f, x)[0], _plain(want), atol=1e-12)
    for name in ("rfft", "ihfft"):
        f = partial(getattr(fft, name), n=n, axis=axis, norm=norm)
        want = getattr(np.fft, name)(x[..., 0], n, axis, norm)

        np.testing.assert_allclose(computed(f, x[..., 0])[0], _plain(want), atol=1e-12)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize(
    "options", [{}, {"s": (3, 6)}, {"axes": (0, 2)}, {"s": (2, 4), "axes": (1, -1)}]
)
def test_transforms_along_several_axes(
    name: str, options: dict[str, Any], backend: Backend
) -> None:
    x = numbers(2, 3, 4)
    x = x[..., 0] if name == "rfftn" else x
    given_axes = {"axes": (-2, -1)} if "axes" not in options and "s" in options else {}

    (y,) = run(backend, partial(getattr(fft, name), **options), x)

    want = getattr(np.fft, name)(x if name == "rfftn" else as_complex(x), **options, **given_axes)
    np.testing.assert_allclose(y, _plain(want), atol=1e-12)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [4, 5])
def test_inverses(norm: Norm, n: int) -> None:
    def there_and_back(x: Value) -> list[Value]:
        row = fft.real(x)
        half = fft.rfft(row, norm=norm)
        return [
            fft.ifft(fft.fft(x, norm=norm), norm=norm),
            fft.pair(fft.irfft(half, n=n, norm=norm), row),
            fft.pair(fft.hfft(fft.ihfft(row, norm=norm), n=n, norm=norm), row),
        ]

    x = numbers(3, n)
    whole, real, hermitian = computed(there_and_back, x)

    np.testing.assert_allclose(whole, x, atol=1e-12)
    np.testing.assert_allclose(real[..., 0], x[..., 0], atol=1e-12)
    np.testing.assert_allclose(hermitian[..., 0], x[..., 0], atol=1e-12)


def test_second_derivatives() -> None:
    """Of the squared powers of a spectrum."""
    from byparts_autodiff import gradients

    def slope(x: Value) -> list[Value]:
        y = fft.rfft(x)
        power = ops.square(fft.real(y)) + ops.square(fft.imag(y))
        return list(gradients(ops.sum(ops.square(power)), x))

    check_gradient(slope, np.random.default_rng(0).standard_normal((2, 5)), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_frequencies_and_shifts(n: int) -> None:
    def all_of_them() -> list[Value]:
        f = fft.fftfreq(n, d=0.5, dtype="f64")
        x = fft.pair(f)
        shifted = fft.fftshift(f, real=True)
        back = fft.ifftshift(shifted, real=True)
        pairs = fft.fftshift(x, axes=-1)
        return [f, fft.rfftfreq(n, d=0.5, dtype="f64"), shifted, back, fft.real(pairs)]

    f, half, shifted, back, pairs = computed(all_of_them)

    np.testing.assert_array_equal(f, np.fft.fftfreq(n, 0.5))
    np.testing.assert_array_equal(half, np.fft.rfftfreq(n, 0.5))
    np.testing.assert_array_equal(shifted, np.fft.fftshift(f))
    np.testing.assert_array_equal(pairs, shifted)
    np.testing.assert_array_equal(back, f)


def test_pairs_are_numbers_of_numpy_without_a_copy() -> None:
    x = numbers(3, 4)

    assert np.shares_memory(as_complex(x), x)
    np.testing.assert_array_equal(as_pairs(as_complex(x), x), x)


def _both(f: Callable[..., Value]) -> Callable[..., Value]:
    return partial(f, norm="both")


@pytest.mark.parametrize(
    ("f", "shape", "message"),
    [
        (fft.fft, (3, 4), r"fft: takes complex numbers as pairs \[..., 2\], got f64\[3,4\]"),
        (
            fft.fft,
            (0, 2),
            r"fft: a transform takes at least one point, got f64\[0,2\] along axis 0",
        ),
        (fft.fftshift, (3, 4), "fftshift: takes .*; .* real=True says that x is no pairs"),
        (fft.irfft, (1, 2), "irfft: size is 0; it gives at least one number"),
        (partial(fft.fft, axis=1), (3, 2), "fft: axis 1 is out of range for rank 1"),
        (_both(fft.rfft), (3,), "rfft: norm is 'both'; it is 'backward', 'ortho'"),
        (_both(fft.hfft), (3, 2), "hfft: norm is 'both'; it is 'backward', 'ortho'"),
        (
            partial(fft.fftn, s=(2, 2), axes=(0,)),
            (3, 2),
            r"fftn: s is \(2, 2\) and axes are \(0,\)",
        ),
    ],
)
def test_wrong_arguments(f: Callable[..., Value], shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        graph_of(f, np.ones(shape))


def test_halves_are_refused() -> None:
    with pytest.raises(GraphError, match=r"rfft: takes f32 or f64, got f16\[4\]; cast\(a, 'f32'\)"):
        graph_of(fft.rfft, np.ones(4, np.float16))


def _plain(z: Array) -> Array:
    return as_pairs(z, z.real) if np.iscomplexobj(z) else z

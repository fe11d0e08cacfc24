"""Arrays from nothing, eagerly and while functions are traced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
from byparts_graph_ir import ArgumentError, GraphError, ShapeError


def test_each_array_is_a_new_one() -> None:
    """Two zeros are two parameters."""
    a, b = bp.zeros(2), bp.zeros(2)

    assert a is not b
    assert not np.shares_memory(a.data, b.data)


@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (bp.zeros(()), "f32"),
        (bp.ones((2, 0), dtype="float64"), "f64"),
        (bp.empty(3, dtype=bp.int8), "i8"),
        (bp.full((), 2), "i64"),
        (bp.full((1,), 2.0, dtype="i32"), "i32"),
        (bp.full((1,), True), "bool"),
        (bp.full((1,), bp.asarray(2.0), dtype="f64"), "f64"),
        (bp.arange(3), "i64"),
        (bp.arange(0.5, 2), "f32"),
        (bp.eye(2, dtype=bp.bool), "bool"),
        (bp.linspace(0, 1, 5), "f32"),
        (bp.ones_like(bp.asarray([1], dtype="u8")), "u8"),
        (bp.empty_like(bp.asarray([1]), dtype="f16"), "f16"),
    ],
)
def test_dtypes_of_new_arrays(x: Any, dtype: str) -> None:
    assert x.dtype == dtype


def test_signs_of_zeros_stay() -> None:
    assert np.signbit(bp.full((2,), -0.0).numpy()).all()
    assert not np.signbit(bp.full((2,), 0.0).numpy()).any()


def test_a_number_that_the_dtype_cannot_hold_is_refused() -> None:
    with pytest.raises(ShapeError, match="300"):
        bp.full((2,), 300, dtype="u8")
    with pytest.raises(ArgumentError, match='should be "xy" or "ij"'):
        bp.meshgrid(bp.arange(2), indexing="yx")


@pytest.mark.parametrize("args", [(5,), (2, 9, 3), (9, 2, -3), (3, 3), (0.0, 1.0, 0.25), (5, 0)])
def test_ranges_are_numpys(args: tuple[float, ...]) -> None:
    np.testing.assert_array_equal(bp.arange(*args).numpy(), np.arange(*args))


def test_grids_are_numpys() -> None:
    arrays = [np.arange(n) for n in (2, 3, 0)]

    for indexing in ("xy", "ij"):
        ours = bp.meshgrid(*map(bp.asarray, arrays), indexing=indexing)
        wanted = np.meshgrid(*arrays, indexing=indexing)
        assert [y.shape for y in ours] == [y.shape for y in wanted]
    assert [y.shape for y in bp.meshgrid(bp.asarray(3))] == [(1,)]


def test_new_arrays_in_a_compiled_function_have_the_sizes_of_its_arguments() -> None:
    """One program serves all sizes."""

    @bp.compile(backends=("numpy",))
    def f(x: Any) -> Any:
        n = x.shape[0]
        return bp.ones_like(x) + bp.zeros((n, 1)) + bp.full(x.shape, 1.0), bp.arange(n), bp.tril(x)

    for n in (2, 3, 4):
        x = np.ones((n, 3), np.float32)
        twos, places, lower = f(x)
        np.testing.assert_array_equal(twos.numpy(), 2 * x)
        np.testing.assert_array_equal(places.numpy(), np.arange(n))
        np.testing.assert_array_equal(lower.numpy(), np.tril(x))
    assert len(f.programs) == 2


def test_arrays_of_others_are_read_by_dlpack() -> None:
    a = np.arange(3.0)
    x = bp.from_dlpack(a)
    a[0] = 7

    assert x.numpy().tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="copied"):
        bp.from_dlpack(a, copy=False)


def test_constants_of_the_op_set_are_no_arrays_of_the_standard_yet() -> None:
    """`zeros` of the op set is a value of a graph; with an array it computes."""
    assert (ops.zeros((2,)) + bp.ones(2)).numpy().tolist() == [1, 1]
    with pytest.raises((GraphError, AttributeError)):
        ops.zeros((2,)).numpy()  # type: ignore[attr-defined]

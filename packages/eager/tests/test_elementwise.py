"""Functions of elements: special numbers, promotion, and what is refused."""

from __future__ import annotations

from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from random_expressions import ONE, TWO, difference

import byparts_eager as bp
from byparts_graph_ir import GraphError

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.0, 1e-30, 1e30, inf, -inf, nan]
# The rows of the standard's tables, of the dtypes that are here.
PROMOTED = {
    ("i8", "i16"): "i16", ("i8", "i32"): "i32", ("i8", "i64"): "i64", ("i16", "i32"): "i32",
    ("i16", "i64"): "i64", ("i32", "i64"): "i64", ("u8", "i8"): "i16", ("u8", "i16"): "i16",
    ("u8", "i32"): "i32", ("u8", "i64"): "i64", ("f32", "f64"): "f64", ("f16", "f32"): "f32",
    ("bf16", "f16"): "f32", ("bf16", "f64"): "f64",
}  # fmt: skip
NAMES = [name for name, (dtypes, _, _) in ONE.items() if "f32" in dtypes]
PAIRS = [name for name, (dtypes, _, _) in TWO.items() if "f32" in dtypes]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_numbers_of_one_operand_are_numpys(dtype: Any) -> None:
    """Signs of zeros included."""
    x = np.array(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        wrong = {
            name: difference(
                getattr(bp, name)(bp.asarray(x)), getattr(np, ONE[name][1])(x), ONE[name][2]
            )
            for name in NAMES
        }

    assert {name: text for name, text in wrong.items() if text} == {}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_numbers_of_two_operands_are_numpys(dtype: Any) -> None:
    x = np.array(SPECIAL, dtype)
    with np.errstate(all="ignore"):
        wrong = {
            name: difference(
                getattr(bp, name)(bp.asarray(x[:, None]), bp.asarray(x)),
                getattr(np, TWO[name][1])(x[:, None], x),
                TWO[name][2],
            )
            for name in PAIRS
        }

    assert {name: text for name, text in wrong.items() if text} == {}


@given(st.lists(st.floats(width=32), max_size=5), st.floats(width=32))
@settings(max_examples=25, deadline=None)
def test_hypot_and_logaddexp_neither_overflow_nor_lose_nan(numbers: list[float], y: float) -> None:
    x = np.array(numbers, np.float32)
    with np.errstate(all="ignore"):
        size = np.fmax(abs(x), abs(np.float32(y)))
        wanted = np.hypot(x, np.float32(y)), np.logaddexp(x, np.float32(y))

    assert not difference(bp.hypot(bp.asarray(x), y), wanted[0], 4)
    assert not difference(bp.logaddexp(bp.asarray(x), y), wanted[1], 4, size)


def test_two_dtypes_promote_as_the_standard_says() -> None:
    zeros = {d: bp.zeros((1,), dtype=d) for pair in PROMOTED for d in pair}
    both = [(zeros[a], zeros[b]) for a, b in PROMOTED]

    assert [(x + y).dtype for x, y in both] == list(PROMOTED.values())
    assert [bp.multiply(y, x).dtype for x, y in both] == list(PROMOTED.values())
    assert [bp.where(x == 0, y, x).dtype for x, y in both] == list(PROMOTED.values())


@pytest.mark.parametrize(("a", "b"), [*product(("f32",), ("i32", "bool")), ("bool", "i8")])
def test_kinds_do_not_mix(a: str, b: str) -> None:
    """The error says to cast."""
    x, y = bp.zeros((2,), dtype=a), bp.zeros((2,), dtype=b)

    with pytest.raises(TypeError, match="no common dtype; cast one, as in astype"):
        bp.maximum(x, y)
    with pytest.raises(TypeError, match="no common dtype; cast one, as in astype"):
        _ = x * y


def test_a_number_takes_the_dtype_of_the_array() -> None:
    x = bp.asarray([1.0], dtype="f64")

    assert bp.add(x, 0.1).numpy().tolist() == [1.1]
    assert bp.subtract(0.1, x).dtype == "f64"
    assert bp.hypot(x, 1e30).numpy().tolist() == [1e30]
    assert (bp.asarray([True]) == True).numpy().tolist() == [True]  # noqa: E712  # an array


def test_a_number_of_a_higher_kind_is_refused() -> None:
    with pytest.raises(TypeError, match=r"the number 0.5 is beside an array of dtype int32"):
        bp.add(bp.asarray([1], dtype="i32"), 0.5)
    with pytest.raises(TypeError, match="one of them should be an array"):
        bp.add(1.0, 2.0)


def test_whole_numbers_are_rounded_to_themselves() -> None:
    x = bp.asarray([1, 2])

    assert bp.round(x) is x
    assert bp.positive(x) is x
    with pytest.raises(GraphError, match="sin: takes floats"):
        bp.sin(x)


def test_clip_keeps_the_dtype() -> None:
    x = bp.asarray([-1.0, 0.5, nan])
    low = bp.asarray([0.0, 0.75, 0.0], dtype="f64")

    np.testing.assert_array_equal(bp.clip(x, low).numpy(), np.array([0, 0.75, nan], np.float32))
    np.testing.assert_array_equal(bp.clip(x, None, -2).numpy(), np.array([-2, -2, nan], np.float32))
    assert bp.clip(x, low).dtype == "f32"


def test_functions_take_arrays_of_numpy_and_lists() -> None:
    assert bp.exp(np.zeros(2)).dtype == "f64"
    assert bp.add(bp.asarray([1.0]), np.array([2], np.float32)).numpy().tolist() == [3]
    assert bp.square([3.0]).dtype == "f32"

"""Sizes with names in them: what is computed of them, and what is not decided."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from byparts_frontend_onnx.sizes import Sizes, as_value, computed, sizes_of
from byparts_graph_ir import Graph, Input, TensorType, dimension
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

N = sizes_of(["n", 3])


@pytest.mark.parametrize(
    ("name", "other", "expected"),
    [
        ("Add", 1, ["n+1", 4]),
        ("Mul", 2, ["2*n", 6]),
        ("Div", 2, ["n//2", 1]),
        ("Max", 4, ["max(n,4)", 4]),
        ("Mod", 2, ["n-2*(n//2)", 1]),
    ],
)
def test_arithmetic(name: str, other: int, expected: list[object]) -> None:
    made = computed(name, N, np.array(other), "i64")
    assert isinstance(made, Sizes)
    assert [str(e) for e in made.array] == [str(e) for e in sizes_of(expected).array]  # type: ignore[union-attr]


def test_what_cancels_is_a_number() -> None:
    made = computed("Sub", sizes_of(["n", "m"]), sizes_of(["n", "m"]), "i64")
    assert isinstance(made, np.ndarray) and made.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("name", "left", "right", "answer"),
    [
        ("Equal", "n", 1, None),
        ("Equal", "n", -1, False),
        ("Equal", "n+1", 0, False),
        ("Less", "n", "n+1", True),
        ("Greater", "n", 0, None),
        ("GreaterOrEqual", "n", 0, True),
        ("GreaterOrEqual", "3*n-4*((3*n)//4)", 0, True),
        ("GreaterOrEqual", "n-3*(n//4)", 0, True),
        ("GreaterOrEqual", "n-5*(n//4)", 0, None),
        ("LessOrEqual", "n", "m", None),
    ],
)
def test_comparisons_hold_for_every_number_or_are_left(
    name: str, left: object, right: object, answer: object
) -> None:
    made = computed(name, sizes_of(left), sizes_of(right), "i64")
    assert (None if made is None else bool(made)) is answer


def test_floats_are_exact_or_left() -> None:
    """n * 2.0 is a size; n / 2 as a float is not."""
    x = Sizes(N.array, "f32")  # type: ignore[union-attr]
    twice = computed("Mul", x, np.array(2.0), "f32")
    assert isinstance(twice, Sizes) and twice.array.tolist() == ["2*n", 6]
    assert computed("Div", x, np.array(2.0), "f32") is None


def test_a_quotient_below_0_is_rounded_towards_0() -> None:
    """As ONNX divides, also where a name makes the number negative."""
    made = computed("Div", sizes_of(["n-3"]), np.array(2), "i64")
    assert isinstance(made, Sizes)
    x = Input(TensorType("f32", ("n",)), None, "x")
    program = build(Graph.of([x], [as_value(made), x]), backends=("numpy",))
    for n, expected in ((0, -1), (1, -1), (2, 0), (7, 2)):
        assert program(np.ones(n, np.float32))[0].tolist() == [expected]


def test_sizes_of_numbers_are_arrays() -> None:
    assert isinstance(sizes_of([1, 2]), np.ndarray)
    assert evaluate(Graph.of([], [as_value(Sizes(np.array([1, 2], object)))]))[0].tolist() == [1, 2]


MEANING = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "Div": lambda a, b: int(a / b),
    "Mod": lambda a, b: a % b,
    "Min": min,
    "Max": max,
    "Equal": lambda a, b: a == b,
    "Less": lambda a, b: a < b,
    "Greater": lambda a, b: a > b,
    "LessOrEqual": lambda a, b: a <= b,
    "GreaterOrEqual": lambda a, b: a >= b,
}
TEXTS = ("n", "m", "n+m", "2*n", "n-3", "n//2", "(n+1)//2", "min(n,m)", "n-4*(n//4)", "m*n+1")


@pytest.mark.parametrize("name", MEANING)
def test_what_is_said_of_names_is_true_of_numbers(name: str) -> None:
    """Of ten sizes with each other and with numbers, for 25 pairs of numbers of the names."""
    said = 0
    for left, right in itertools.product(TEXTS, (*TEXTS, -1, 1, 2, 3)):
        made = computed(name, sizes_of(left), sizes_of(right), "i64")
        if made is None:
            continue
        said += 1
        (size,) = (made.array if isinstance(made, Sizes) else made).reshape(-1).tolist()
        size = int(size) if isinstance(size, bool) else size
        for n, m in itertools.product((0, 1, 2, 5, 8), repeat=2):
            sizes: Any = (left, right, size)
            a, b, got = (dimension(t, {"n": n, "m": m}) for t in sizes)
            assert got == MEANING[name](a, b), (left, right, size, n, m)  # type: ignore[operator]
    assert said > 10

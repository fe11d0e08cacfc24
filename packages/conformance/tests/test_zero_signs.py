"""The sign of a zero is compared where all backends must have the same, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import byparts_opset as ops
from byparts_conformance.programs.bounds import expected
from byparts_conformance.programs.growing import _says_nothing
from byparts_conformance.programs.program import Program
from byparts_graph_ir import Graph, Input, TensorType, Value

X = np.array([0.0, -0.0, 2.0], np.float32)


def wanted(make: Callable[[Value], Value]) -> tuple[Graph, np.ndarray, object]:
    x = Input(TensorType("f32", (3,)), None, "x")
    graph = Graph.of((x,), (make(x),))
    (want,) = expected(Program(graph, (X,), seed=1))
    return graph, want.value, want


@pytest.mark.parametrize(
    "make",
    [ops.neg, lambda x: ops.reverse(x, (0,)), lambda x: ops.abs(ops.neg(x))],
    ids=["neg", "reverse", "abs"],
)
def test_the_other_sign_of_a_zero_is_wrong_where_nothing_rounds(
    make: Callable[[Value], Value],
) -> None:
    _, value, want = wanted(make)
    other = np.where(value == 0, -value, value).astype(np.float32)

    assert not want.difference(value)  # type: ignore[attr-defined]
    assert "instead of" in want.difference(other)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "make",
    [lambda x: x * 3.0, ops.relu, lambda x: ops.sum(ops.reshape(x, (1, 3)), (0,))],
    ids=["product", "relu", "sum of one"],
)
def test_either_sign_is_right_where_backends_choose_it(make: Callable[[Value], Value]) -> None:
    _, value, want = wanted(make)

    assert not want.difference(np.where(value == 0, -value, value).astype(np.float32))  # type: ignore[attr-defined]


@pytest.mark.parametrize("numbers", [(np.nan, 0.0, np.nan), (np.nan, np.nan, np.nan), (1, 1, 1)])
def test_a_value_of_one_number_and_nan_says_nothing(numbers: tuple[float, ...]) -> None:
    x = Input(TensorType("f32", (3,)), None, "x")

    assert _says_nothing(ops.neg(x), np.array(numbers, np.float32))
    assert not _says_nothing(ops.neg(x), np.array((np.nan, 1.0, 2.0), np.float32))

"""Assignments by indices and masks: torch where it says what they give, and where not, the last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import numpy as np
import pytest
import torch
from exporting import Function, imported

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, GraphError
from byparts_opset.evaluate import evaluate
from byparts_runtime import build

torch.manual_seed(0)
TWICE, ZEROS = torch.tensor([1, 1, 2]), torch.zeros(4)
ROW = torch.tensor([3.0, 4.0, 5.0])
X, MASK = torch.randn(4, 5, 3), torch.tensor([True, False, True, True])
WIDE = torch.rand(4, 5) > 0.4


def results(function: Callable[..., Any], *given: Any) -> list[Any]:
    """By the reference, and on both backends."""
    graph = imported(Function(function), *given).graph
    arrays = [x.numpy() for x in given]
    kernels = [build(graph, backends=b)(*arrays)[0] for b in (("numpy",), ("torch", "numpy"))]
    return [evaluate(graph, *arrays)[0], *kernels]


def written(x: Any, at: Any, values: Any) -> Any:
    x = x.clone()
    x[at] = values
    return x


def as_torch(function: Callable[..., Any], *given: Any) -> None:
    want = function(*given).numpy()
    for got in results(function, *given):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: written(x, TWICE, 1.0), [0, 1, 1, 0]),
        (lambda x: written(x, TWICE, ROW), [0, 4, 5, 0]),
        (lambda x: x.index_fill(0, TWICE, 7.0), [0, 7, 7, 0]),
        (lambda x: x.index_copy(0, TWICE, ROW), [0, 4, 5, 0]),
        (lambda x: x.scatter(0, TWICE, ROW), [0, 4, 5, 0]),
        (lambda x: x.scatter(0, TWICE, 7.0), [0, 7, 7, 0]),
        (lambda x: x.index_put((TWICE,), ROW), [0, 4, 5, 0]),
        (lambda x: x.put(TWICE, ROW), [0, 4, 5, 0]),
        (lambda x: x.index_put((TWICE,), ROW, accumulate=True), [0, 7, 5, 0]),
        (lambda x: x.scatter_reduce(0, TWICE, ROW, "sum", include_self=False), [0, 7, 5, 0]),
        (
            lambda x: torch.nn.functional.max_unpool1d(
                ROW.reshape(1, 1, 3), TWICE.reshape(1, 1, 3), 2
            ).flatten(),
            [0, 4, 5, 0, 0, 0],
        ),
    ],
)
def test_of_assignments_to_one_place_the_last_stays(
    function: Callable[..., Any], expected: list[float]
) -> None:
    """They are no sums, unless sums are asked for."""
    for got in results(function, ZEROS):
        np.testing.assert_array_equal(got, expected)


def test_assignments_apart_are_those_of_numpy_where_indices_repeat() -> None:
    at = (torch.tensor([0, 0, 1]), slice(None), torch.tensor([1, 1, 2]))
    values = torch.arange(15.0).reshape(3, 5)
    want = X.numpy().copy()
    want[[0, 0, 1], :, [1, 1, 2]] = values.numpy()

    for got in results(lambda x, v: written(x, at, v), X, values):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("shape", [(), (1,), (5, 3), (1, 5, 3), (3, 5, 3), (3, 5, 1)])
def test_a_mask_takes_one_value_or_one_for_each(shape: tuple[int, ...]) -> None:
    as_torch(written, X, MASK, torch.randn(shape))


@pytest.mark.parametrize("shape", [(), (3,), (int(WIDE.sum()), 3)])
def test_a_mask_may_have_several_axes(shape: tuple[int, ...]) -> None:
    as_torch(written, X, WIDE, torch.randn(shape))


@pytest.mark.parametrize("shape", [(3, 3), (4, 1, 3), (4, 3, 3)])
def test_a_mask_may_stand_behind_other_axes(shape: tuple[int, ...]) -> None:
    mask = torch.tensor([True, False, True, True, False])

    as_torch(lambda x, m, v: written(x, (slice(None), m), v), X, mask, torch.randn(shape))


def test_a_mask_adds() -> None:
    as_torch(lambda x, m, v: x.index_put((m,), v, accumulate=True), X, MASK, torch.randn(3, 5, 3))


@pytest.mark.parametrize("held", [[True, True, True, True], [True, False, False, False]])
def test_a_mask_that_holds_another_number_than_values_is_an_error(held: list[bool]) -> None:
    """Known when the program runs."""
    graph = imported(Function(written), ZEROS, MASK, ROW).graph

    with pytest.raises(GraphError, match=r"gather: index .* is out of range"):
        evaluate(graph, ZEROS.numpy(), np.array(held), ROW.numpy())


def test_elements_go_in_order_to_where_a_mask_holds() -> None:
    as_torch(lambda x, m, v: x.masked_scatter(m, v), X, X > 0, torch.randn(80))
    as_torch(lambda x, m, v: x.masked_scatter(m, v), X, WIDE[:, :, None], torch.randn(8, 10))


def test_masks_beside_indices_are_refused() -> None:
    with pytest.raises(GraphError, match="a mask beside other indices"):
        imported(Function(lambda x, m, v: written(x, (m, TWICE), v)), X, MASK, torch.randn(3, 3))


def test_diagonals_are_assigned() -> None:
    as_torch(lambda x, v: torch.diagonal_scatter(x, v, 1, 1, 2), X, torch.randn(4, 2))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.scatter(0, torch.tensor(0), torch.tensor(4.0)),
        lambda x: x.scatter(0, torch.tensor([0]), 4.0),
        lambda x: x.scatter_add(0, torch.tensor([0]), torch.tensor([4.0])),
        lambda x: x.index_fill(0, torch.tensor([0]), 3.0),
        lambda x: x.index_copy(0, torch.tensor([0]), torch.tensor([3.0])),
        lambda x: x.gather(0, torch.tensor([0])),
        lambda x: x.gather(0, torch.tensor(0)),
        lambda x: x.index_select(0, torch.tensor([0])),
    ],
)
def test_a_tensor_without_axes_has_one_element_to_index(function: Callable[..., Any]) -> None:
    as_torch(function, torch.tensor(2.0))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, i: x.gather(0, i),
        lambda x, i: x.scatter(0, i, torch.zeros(2, 0)),
        lambda x, i: x.scatter(0, i, 1.0),
        lambda x, i: x.scatter_add(0, i, torch.zeros(2, 0)),
    ],
)
def test_an_index_of_nothing_may_have_any_rank(function: Callable[..., Any]) -> None:
    as_torch(function, ZEROS, torch.zeros(2, 0, dtype=torch.long))


def test_a_fill_at_one_place_twice_is_differentiated_once() -> None:
    """As central differences say; torch counts the place twice."""
    made = imported(Function(lambda x, v: x.index_fill(0, TWICE, v)), ZEROS, torch.tensor(2.0))
    x, v = made.graph.inputs
    loss = ops.sum(made.graph.outputs[0] * ops.constant(np.array([1, 2, 4, 8], np.float32)))
    dx, dv = evaluate(Graph.of([x, v], gradients(loss, [x, v])), ZEROS.numpy(), np.float32(2))

    np.testing.assert_array_equal(dx, [1, 0, 0, 8])
    assert dv == 6

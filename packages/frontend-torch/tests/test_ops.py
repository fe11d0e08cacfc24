"""Functions of torch against torch."""

from __future__ import annotations

from typing import Any

import exporting
import numpy as np
import pytest
import torch
from op_cases import GROUPS

from byparts_frontend_torch.dtypes import dtype_name
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate


def leaves(results: Any) -> list[Any]:
    """Tensors, in order, out of tuples of tuples."""
    if isinstance(results, torch.Tensor):
        return [results]
    return [leaf for result in results for leaf in leaves(result)]


@pytest.mark.parametrize("group", GROUPS)
def test_functions_are_those_of_torch(group: str) -> None:
    """Values, dtypes and shapes."""
    cases, given = GROUPS[group]
    made = exporting.imported(
        exporting.Function(lambda *args: [case(*args) for case in cases.values()]), *given
    )
    expected = [(n, leaf) for n, case in cases.items() for leaf in leaves(case(*given))]

    results = evaluate(made.graph, *(x.numpy() for x in given), *made.weights.values())

    for (name, want), got in zip(expected, results, strict=True):
        assert (got.dtype, got.shape) == (want.numpy().dtype, tuple(want.shape)), name
        np.testing.assert_allclose(got, want.numpy(), rtol=2e-5, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    "model",
    [
        torch.nn.BatchNorm2d(3),
        torch.nn.BatchNorm2d(3).eval(),
        torch.nn.BatchNorm2d(3, track_running_stats=False),
        torch.nn.GroupNorm(3, 3),
        torch.nn.LayerNorm(5),
    ],
    ids=str,
)
def test_half_types_are_normalised_by_parameters_of_f32(model: Any, dtype: Any) -> None:
    """And the statistics of a batch stay f32."""
    x = torch.randn(4, 3, 5, 5, generator=torch.Generator().manual_seed(0)).to(dtype)
    made = exporting.imported(model, x)
    given = x.float().numpy().astype(numpy_dtype(dtype_name(dtype)))
    y, *new = evaluate(made.graph, given, *made.weights.values())
    want = model(x).detach().float().numpy()

    np.testing.assert_allclose(y.astype("f4"), want, atol=4e-3 if dtype == torch.float16 else 3e-2)
    for name, value in zip(made.updates, new, strict=True):
        np.testing.assert_allclose(value, model.state_dict()[name].numpy(), atol=1e-5)


def test_a_group_norm_of_no_images_gives_none() -> None:
    x = torch.zeros(0, 3, 5, 5)
    made = exporting.imported(torch.nn.GroupNorm(3, 3), x)

    (y,) = evaluate(made.graph, x.numpy(), *made.weights.values())
    assert y.shape == (0, 3, 5, 5)


def test_numbers_are_true_unless_they_are_zero() -> None:
    """Nan is true, too; the bits of integers are turned."""
    x, z = torch.tensor([0.0, -0.0, 2.0, float("nan")]), torch.tensor([0, 3, 0, -7])

    def function(x: Any, z: Any) -> Any:
        logic = (torch.logical_and, torch.logical_or, torch.logical_xor)
        return (*(f(x, z) for f in logic), torch.logical_not(x), ~z, ~z.to(torch.uint8))

    graph = exporting.imported(exporting.Function(function), x, z).graph
    for got, want in zip(evaluate(graph, x.numpy(), z.numpy()), function(x, z), strict=True):
        np.testing.assert_array_equal(got, want.numpy())


def test_tensors_without_axes_have_one_to_name() -> None:
    x = torch.tensor(2.0)

    def function(x: Any) -> Any:
        shaped = (x.t(), x.transpose(0, -1), x.flatten(), x.unfold(0, 1, 1), x.unfold(0, 0, 1))
        found = (x.softmax(0), x.log_softmax(-1), x.cumsum(0), x.sort().values, *x.topk(1))
        return (*shaped, *found, x.index_select(0, torch.tensor([0])), x.sum(0), x.max(0).indices)

    graph = exporting.imported(exporting.Function(function), x).graph
    for got, want in zip(evaluate(graph, x.numpy()), function(x), strict=True):
        assert (got.dtype, got.shape) == (want.numpy().dtype, tuple(want.shape))
        np.testing.assert_array_equal(got, want.numpy())

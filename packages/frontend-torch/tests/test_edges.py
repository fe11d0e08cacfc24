"""0-d values, empty batches, nan in orders, logic of numbers: as torch has them."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import exporting
import numpy as np
import pytest
import torch
from torch.nn import functional

from byparts_opset.evaluate import evaluate

ONE = torch.tensor(2.5)
ROWS = torch.tensor([[nan, 1.0, 2.0], [3.0, nan, -1.0], [0.0, -0.0, inf], [1.0, 1.0, 0.0]])
WHOLE = torch.tensor([[3, 1, 3], [-5, 2, 2]])
NUMBERS = torch.tensor([0.0, -0.0, nan, 2.0, inf])

CASES: dict[str, tuple[Callable[..., Any], Any]] = {
    "softmax of 0-d": (lambda x: functional.softmax(x, 0), ONE),
    "log softmax of 0-d": (lambda x: functional.log_softmax(x, -1), ONE),
    "safe softmax of 0-d": (lambda x: torch.ops.aten._safe_softmax(x, 0), ONE),
    "top k of 0-d": (lambda x: x.topk(1, 0), ONE),
    "sort of 0-d": (lambda x: x.sort(0), ONE),
    "transpose of 0-d": (lambda x: x.transpose(0, -1) + x.t(), ONE),
    "flip of 0-d": (lambda x: x.flip(0), ONE),
    "running sums of 0-d": (lambda x: x.cumsum(0), ONE),
    "greatest of 0-d": (lambda x: (x.argmax(0), x.max(0)), ONE),
    "group norm of nothing": (lambda x: functional.group_norm(x, 2), torch.ones(0, 4, 3)),
    "variance of nothing": (lambda x: (x.var(), x.std(), x.var(correction=0)), torch.ones(0)),
    "variance of one": (lambda x: (x.var(), x.std(), x.var(correction=2)), torch.ones(1)),
    "rising order": (lambda x: x.sort(dim=1, stable=True), ROWS),
    "falling order": (lambda x: x.sort(dim=1, descending=True, stable=True), ROWS),
    "rising order of integers": (lambda x: x.sort(dim=1, stable=True), WHOLE),
    "two least": (lambda x: x.topk(2, 1, largest=False)[0], ROWS),
    "two least along the first axis": (lambda x: x.topk(2, 0, largest=False)[0], ROWS),
    "hypot": (lambda x: torch.hypot(x, x.flip(0)), torch.tensor([nan, inf, -inf, 1.0, 0.0, inf])),
    "not": (torch.logical_not, NUMBERS),
    "and": (lambda x: torch.logical_and(x, x.flip(0)), NUMBERS),
    "or": (lambda x: torch.logical_or(x, x.flip(0) > 1), NUMBERS),
    "xor": (lambda x: torch.logical_xor(x, WHOLE[0, 0]), NUMBERS),
}


@pytest.mark.filterwarnings("ignore:var\\(\\)|std\\(\\):UserWarning")
@pytest.mark.parametrize("name", CASES)
def test_edges_are_those_of_torch(name: str) -> None:
    """Values, dtypes and shapes."""
    function, x = CASES[name]
    made = exporting.imported(exporting.Function(function), x)
    results = evaluate(made.graph, x.numpy(), *made.weights.values())

    for got, want in zip(results, leaves(function(x)), strict=True):
        np.testing.assert_allclose(got, want.numpy(), rtol=1e-6, strict=True)


def leaves(result: Any) -> list[Any]:
    if isinstance(result, torch.Tensor):
        return [result]
    return [leaf for part in result for leaf in leaves(part)]

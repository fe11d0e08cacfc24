"""Functions of torch against torch."""

from __future__ import annotations

from typing import Any

import exporting
import numpy as np
import pytest
import torch
from op_cases import GROUPS

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

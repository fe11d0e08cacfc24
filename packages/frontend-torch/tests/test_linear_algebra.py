"""Linear algebra of torch, by the part linalg, against torch."""

from __future__ import annotations

import sys
from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import numpy as np
import pytest
import torch
from exporting import Function, imported

from byparts_graph_ir import GraphError
from byparts_opset.evaluate import evaluate

X = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]], dtype=torch.float64)


def of_matrices(a: Any) -> list[Any]:
    """Results that no choice of a sign or of an order is left in."""
    lower, b = torch.linalg.cholesky(a), a[:, :2]
    reflections = torch.tril(a, -1) * 0.1
    return [
        *(torch.linalg.det(a), *torch.linalg.slogdet(a), torch.linalg.inv(a), lower),
        *(torch.linalg.solve(a, b), torch.linalg.solve(a, b.T, left=False)),
        *(torch.linalg.solve_triangular(lower, b, upper=False), torch.cholesky_inverse(lower)),
        *(torch.linalg.eigvalsh(a), torch.linalg.svdvals(a), torch.linalg.pinv(b, rtol=0.01)),
        *(torch.linalg.qr(a)[1].abs(), torch.linalg.matrix_rank(a), torch.linalg.cond(a)),
        torch.linalg.householder_product(reflections, a[0] * 0.3),
    ]


def test_linear_algebra_is_that_of_torch() -> None:
    pytest.importorskip("byparts_linalg", reason="needs linalg")
    got = evaluate(imported(Function(of_matrices), X).graph, X.numpy())

    for value, want in zip(got, of_matrices(X), strict=True):
        np.testing.assert_allclose(value, want.numpy(), rtol=1e-9, atol=1e-12, strict=True)


def test_without_the_part_it_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "byparts_linalg", None)
    with pytest.raises(GraphError, match="the part linalg: pip install byparts-linalg"):
        imported(Function(torch.linalg.inv), X)

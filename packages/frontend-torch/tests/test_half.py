"""Models in half types against torch: normalisations of numbers whose squares those do not hold."""

from __future__ import annotations

from typing import Any

import exporting
import numpy as np
import pytest
import torch

from byparts_opset.evaluate import evaluate

LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "batch norm": (lambda: torch.nn.BatchNorm1d(4), (8, 4)),
    "instance norm": (lambda: torch.nn.InstanceNorm1d(4, affine=True), (8, 4, 3)),
    "layer norm": (lambda: torch.nn.LayerNorm(4), (8, 4)),
    "group norm": (lambda: torch.nn.GroupNorm(2, 4), (8, 4, 3)),
}


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", LAYERS)
def test_normalisations_of_large_halves(name: str, dtype: Any, training: bool) -> None:
    """In training and evaluation; the running statistics too, where they fit the type."""
    make, shape = LAYERS[name]
    model = make().to(dtype).train(training)
    x = (300 * torch.randn(shape, generator=torch.Generator().manual_seed(0))).to(dtype)
    made = exporting.imported(model, x)
    y, *updates = evaluate(made.graph, as_array(x), *made.weights.values())
    want = model(x)
    state = model.state_dict()

    np.testing.assert_allclose(y.astype(np.float32), as_f32(want), rtol=2e-2, atol=2e-2)
    assert y.dtype == as_array(x).dtype
    for key, update in zip(made.updates, updates, strict=True):
        want = as_f32(state[key]).astype(update.dtype)
        np.testing.assert_allclose(
            update.astype(np.float32), want.astype(np.float32), rtol=1e-2, err_msg=key
        )


def as_array(x: Any) -> Any:
    """NumPy has no bf16 of its own."""
    if x.dtype != torch.bfloat16:
        return x.numpy()
    types = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    return x.float().numpy().astype(types.bfloat16)


def as_f32(x: Any) -> Any:
    return x.detach().float().numpy()

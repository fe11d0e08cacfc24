"""Images of other sizes: every mode, the dtypes of each, against torch."""

from __future__ import annotations

from typing import Any

import exporting  # noqa: F401  # skips what comes here without torch
import numpy as np
import pytest
import torch
from exporting import Function, imported
from torch_models import F

from byparts_opset.evaluate import evaluate

MODES = {
    **{"nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "area": (1, 2, 3)},
    **{"linear": (1,), "bilinear": (2,), "bicubic": (2,), "trilinear": (3,)},
}
# What torch has for u8; it rounds twice, so one may differ.
BYTES = {"nearest", "nearest-exact", "bilinear", "bicubic"}
CORNERS = {"linear", "bilinear", "bicubic", "trilinear"}
TOLERANCES = {torch.uint8: 1, torch.float16: 4e-3, torch.float32: 1e-5, torch.float64: 1e-12}


def _sizes(axes: int) -> list[dict[str, Any]]:
    size, doubled = (11, 4, 9)[:axes], (2.0,) * axes
    scales = [{"scale_factor": s} for s in (1.7, 0.6, doubled)]
    return [{"size": size}, *scales, {"scale_factor": 1.7, "recompute_scale_factor": True}]


def _ways(mode: str, axes: int) -> list[dict[str, Any]]:
    corners = [{"align_corners": c} for c in (False, True)] if mode in CORNERS else [{}]
    return [{**size, **corner} for size in _sizes(axes) for corner in corners]


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize(("mode", "axes"), [(m, n) for m, ns in MODES.items() for n in ns])
def test_interpolation_is_that_of_torch(mode: str, axes: int, dtype: Any) -> None:
    """f64 computes its coordinates in f64, and u8 its weights as numbers with digits."""
    if dtype == torch.uint8 and mode not in BYTES:
        pytest.skip("torch has no such interpolation of u8")
    shape, random = (1, 2, 7, 6, 5)[: 2 + axes], torch.Generator().manual_seed(0)
    x = torch.randn(shape, dtype=torch.float64, generator=random)
    x = (x * 64 + 128).clamp(0, 255).to(dtype) if dtype == torch.uint8 else x.to(dtype)
    ways = _ways(mode, axes)

    def function(x: Any) -> Any:
        return [F.interpolate(x, mode=mode, **way) for way in ways]

    found = evaluate(imported(Function(function), x).graph, x.numpy())

    for way, got, want in zip(ways, found, function(x), strict=True):
        assert got.dtype == want.numpy().dtype
        wide = (got.astype("f8"), want.numpy().astype("f8"))
        np.testing.assert_allclose(*wide, rtol=0, atol=TOLERANCES[dtype], err_msg=str(way))

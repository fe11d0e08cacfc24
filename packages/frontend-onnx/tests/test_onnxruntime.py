"""Operators of com.microsoft and ai.onnx.ml against what ONNX Runtime 1.32 gave.

`recorded/onnxruntime.npz` has small models, their inputs and its results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import results

from byparts_frontend_onnx import from_onnx

FILE = Path(__file__).parent / "recorded/onnxruntime.npz"
RECORDED: dict[str, dict[str, Any]] = {}
with np.load(FILE, allow_pickle=False) as arrays:
    for key in arrays:
        case, _, what = key.partition("/")
        RECORDED.setdefault(case, {})[what] = arrays[key]
# What ORT rounds to eight bits inside, and steps of 8 bits at which two roundings meet.
APPROXIMATE = {"DQLSTM": 0.02, "QLinearSoftmax": 1.0, "QLinearGAP": 1.0}


@pytest.mark.parametrize("name", RECORDED)
def test_the_results_of_onnxruntime(name: str) -> None:
    case = RECORDED[name]
    imported = from_onnx(case["model"].tobytes())
    feed = {k.removeprefix("in/"): v for k, v in case.items() if k.startswith("in/")}
    expected = [v for k, v in case.items() if k.startswith("out/")]

    made = results(imported, **feed)

    for got, want in zip(made, expected, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        atol = APPROXIMATE.get(name, 1e-4)
        np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=1e-4, atol=atol)

"""The table of a model."""

from __future__ import annotations

import pytest

import byparts_nn as nn
import byparts_opset as ops
from byparts_graph_ir import GraphError, TensorType


def test_the_table_of_a_model() -> None:
    """Results, parameters and operations of each module; open shapes are found."""
    model = nn.Sequential(nn.Conv2d(None, 2, 3), ops.relu, nn.Flatten(), nn.Linear(None, 5))
    model.freeze(r"layers\.0")
    table = nn.summary(model, TensorType("f32", (4, 1, 6, 6)))
    wanted = [
        "module    class       result        parameters  flops",
        "(model)   Sequential  f32[4,5]             185  3,860",
        "layers.0  Conv2d      f32[4,2,4,4]          20  2,432",
        "layers.2  Flatten     f32[4,32]              0      0",
        "layers.3  Linear      f32[4,5]             165  1,300",
        "185 parameters, 165 of them trained; 3,860 flops forward",
    ]

    assert str(table).splitlines() == wanted
    assert [row.trained for row in table.rows] == [165, 0, 0, 165]


def test_a_module_that_is_called_twice_counts_twice() -> None:
    """One that is not called is said."""
    layer = nn.Linear(3, 3, bias=False)
    model = nn.Sequential(layer, layer)
    model.spare = nn.Linear(3, 3)
    rows = {row.path: row for row in nn.summary(model, TensorType("f32", (2, 3))).rows}

    assert rows["layers.0"].flops == rows[""].flops == 2 * 2 * 2 * 3 * 3
    assert rows["spare"].result == "not called"


def test_what_cannot_be_called_is_said_with_the_module() -> None:
    with pytest.raises(GraphError, match=r"f32\[2,4\]") as caught:
        nn.summary(nn.Sequential(nn.Linear(3, 4), nn.Linear(3, 4)), TensorType("f32", (2, 3)))

    notes = str(caught.value) + "".join(getattr(caught.value, "__notes__", ()))
    assert "in module 'layers.1' (Linear)" in notes

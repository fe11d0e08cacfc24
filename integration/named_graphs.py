"""A graph of a named dimension, its sizes and arrays, for the tests of named dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType

SIZES = (3, 0, 1, 7, 64, 5, 3)
ROWS = Input(TensorType("f32", ("n", 4)), name="rows")


def numbers(*shape: int) -> NDArray[Any]:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def network() -> tuple[Graph, list[NDArray[Any]]]:
    """Softmax of two layers, beside the mean over all rows."""
    w, b = (Input(TensorType("f32", s), name=f"w{s}") for s in ((4, 8), (8,)))
    y = ops.softmax(ops.relu(ROWS @ w + b), axis=-1)
    return Graph.of([ROWS, w, b], [y, ops.mean(y)]), [numbers(4, 8), numbers(8)]

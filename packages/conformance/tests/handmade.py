"""Programs that tests write by hand."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_conformance.programs.program import Program
from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.dtypes import dtype_name


def handmade(outputs: Any, **arrays: np.ndarray[Any, Any]) -> Program:
    """`outputs` of inputs that hold these arrays."""
    kinds = {name: TensorType(dtype_name(a.dtype), a.shape) for name, a in arrays.items()}
    inputs = [Input(kind, None, name) for name, kind in kinds.items()]
    return Program(Graph.of(inputs, outputs(*inputs)), tuple(arrays.values()), seed=1)


def f32(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32)

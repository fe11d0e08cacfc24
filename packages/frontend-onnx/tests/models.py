"""Small models for tests.  Not a test file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

from byparts_frontend_onnx import Imported, from_onnx
from byparts_opset.evaluate import evaluate

node = helper.make_node
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def graph(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    weights: Mapping[str, Any] | None = None,
    name: str = "g",
) -> Any:
    """A graph; inputs are f32 of a shape, or a pair of dtype and shape."""
    types = {n: t if isinstance(t, tuple) else (FLOAT, t) for n, t in inputs.items()}
    return helper.make_graph(
        list(nodes),
        name,
        [helper.make_tensor_value_info(n, *t) for n, t in types.items()],
        [helper.make_tensor_value_info(n, FLOAT, None) for n in outputs],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in (weights or {}).items()],
    )


def model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, Any],
    outputs: Sequence[str],
    weights: Mapping[str, Any] | None = None,
    version: int = 18,
    domains: Mapping[str, int] | None = None,
    **more: Any,
) -> ModelProto:
    """A model of these nodes."""
    imports = [helper.make_opsetid("", version)]
    imports += [helper.make_opsetid(d, v) for d, v in (domains or {}).items()]
    whole = graph(nodes, inputs, outputs, weights)
    return helper.make_model(whole, opset_imports=imports, ir_version=10, **more)


def results(imported: Imported, **feed: Any) -> list[np.ndarray]:
    """What the program gives, by the meaning of its ops."""
    arrays = [np.asarray(feed[n]) for n in imported.inputs]
    return list(evaluate(imported.graph, *arrays, *imported.weights.values()))


def run(source: ModelProto, **feed: Any) -> list[np.ndarray]:
    """What a model gives, imported without an example."""
    return results(from_onnx(source), **feed)

"""Tensors that a node makes of numbers alone."""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_frontend_onnx.node import OnnxNode, ints
from byparts_frontend_onnx.rules import rules
from byparts_frontend_onnx.sizes import Known, Size, Sizes, at_least, counted, size_value
from byparts_graph_ir import Value, dimension
from byparts_opset.dtypes import dtype_name

_MOST = 1 << 24  # elements of a range that are numbers in the program


@rules.on("Constant", raw=True)
def constant(node: OnnxNode) -> Any:
    """The one attribute that it has."""
    for name in ("value", "sparse_value", "value_float", "value_floats", "value_int", "value_ints"):
        if name in node.attributes:
            value = node.get(name)
            if name == "value":
                return node.walk.array(value)
            if name == "sparse_value":
                return node.walk.tensors.dense(value)
            return np.asarray(value, np.float32 if "float" in name else np.int64)
    raise node.refuse(f"a constant of {', '.join(node.attributes) or 'nothing'}")


@rules.on("ConstantOfShape", known=(0,))
def constant_of_shape(node: OnnxNode, shape: Known) -> Value:
    """A number, repeated into a shape."""
    proto = node.get("value")
    array = np.zeros(1, np.float32) if proto is None else node.walk.array(proto)
    size = shape.array.size if isinstance(shape, Sizes) else shape.size
    return ops.fill(array.item(), dtype_name(array.dtype), ints(shape) if size else ())


@rules.on("Range", raw=True)
def range_(node: OnnxNode, *inputs: Any) -> Any:
    """start, start + delta, ... below limit."""
    start, limit, delta = (node.known(i) for i in range(3))
    if not any(isinstance(k, Sizes) for k in (start, limit, delta)):
        numbers: Any = [np.asarray(k).item() for k in (start, limit, delta)]
        first, last, step = numbers
        if step == 0 or (last - first) / step > _MOST:
            raise node.refuse(f"range({first}, {last}, {step})")
        return np.arange(first, last, step).astype(inputs[0].dtype)
    (first_size,), (last_size,), (step_size,) = (
        ints(k) for k in (start, limit, delta) if k is not None
    )
    count = _count(node, first_size, last_size, step_size)
    steps = counted(count)
    steps = steps if step_size == 1 else steps * int(step_size)
    steps = steps if first_size == 0 else steps + size_value(first_size)
    dtype = next(k.dtype for k in (start, limit, delta) if isinstance(k, Sizes))
    return ops.cast(steps, dtype)


def _count(node: OnnxNode, start: Size, limit: Size, step: Size) -> Size:
    """Count the numbers of a range."""
    if not isinstance(step, int) or step < 1:
        raise node.undetermined(f"range({start}, {limit}, {step})", start, limit, step)
    terms = {"a": start, "b": limit}
    count = dimension(f"max(b-a+{step - 1},0)//{step}", terms)
    if count is None:
        raise node.undetermined(f"range({start}, {limit}, {step})", start, limit)
    assert isinstance(count, str) or at_least(count, 0)
    return count

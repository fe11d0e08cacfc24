"""`slim.model_analyzer`: how large variables and results are."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.symbols import symbol


@symbol("contrib.slim.model_analyzer.tensor_description")
def tensor_description(var: Any) -> str:
    """Dtype and shape: "(float32 3x4)"."""
    dims = "x".join([str(d) for d in var.get_shape()])
    return f"({var.dtype.name} {dims})"


@symbol("contrib.slim.model_analyzer.analyze_vars")
def analyze_vars(variables: Any, print_info: bool = False) -> tuple[int, int]:
    """The elements and the bytes of variables; `print_info`: of each, printed."""
    if print_info:
        print("---------\nVariables: name (type shape) [size]\n---------")
    size = size_bytes = 0
    for v in variables:
        count = v.get_shape().num_elements() or 0
        bytes_ = count * v.dtype.size
        size, size_bytes = size + count, size_bytes + bytes_
        if print_info:
            print(v.name, tensor_description(v), f"[{count}, bytes: {bytes_}]")
    if print_info:
        print(f"Total size of variables: {size}")
        print(f"Total bytes of variables: {size_bytes}")
    return size, size_bytes


@symbol("contrib.slim.model_analyzer.analyze_ops")
def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """The elements of all results of a graph; `print_info`: of each operation, printed."""
    if print_info:
        print("---------\nOperations: name -> (type shapes) [size]\n---------")
    total = 0
    for op in graph.get_operations():
        size = sum([t.get_shape().num_elements() or 0 for t in op.outputs])
        shapes = [tensor_description(t) for t in op.outputs if t.get_shape()]
        if print_info:
            print(op.name, "\t->", ", ".join(shapes), f"[{size}]")
        total += size
    return total

"""Graphs as messages of TensorFlow's files: `Graph.as_graph_def`, `Operation.node_def`.

The names and types of operations are TensorFlow's.  Attributes are ours: TensorFlow has some of
them as inputs (the axes of a sum) and calls some otherwise.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.files.messages.graph import AttrValue, GraphDef, NodeDef
from byparts_frontend_tf.files.tensors import make_tensor_proto, shape_proto
from byparts_frontend_tf.graph.dtypes import DType, as_dtype, string
from byparts_frontend_tf.graph.shape import TensorShape

_PRODUCER = 134  # TensorFlow 1.15's version of graphs
_SHAPES = ("shape", "element_shape")


def attr_value(value: Any) -> Optional[AttrValue]:
    """The message of an attribute; `None` if messages have none such."""
    if isinstance(value, (np.ndarray, np.generic)):
        kind = as_dtype(value.dtype)
        return AttrValue(tensor=make_tensor_proto(value, string if kind is string else None))
    if isinstance(value, TensorShape):
        return AttrValue(shape=value.as_proto())
    one = _scalar(value)
    if one is not None:
        return AttrValue(**{one[0]: one[1]})
    if not isinstance(value, (list, tuple)):
        return None
    many = [_scalar(v) for v in value]
    kinds = {v[0] for v in many if v is not None}
    if None in many or len(kinds) > 1:
        return None
    made = AttrValue(list=AttrValue.ListValue())
    for name in kinds:
        getattr(made.list, name).extend([v[1] for v in many if v is not None])
    return made


def _scalar(value: Any) -> Optional[tuple[str, Any]]:
    """The field of a value that is no list, and what it has."""
    if isinstance(value, DType):
        return "type", value.as_datatype_enum
    if isinstance(value, bool):
        return "b", value
    if isinstance(value, int):
        return ("i", value) if -(1 << 63) <= value < 1 << 63 else None
    if isinstance(value, float):
        return "f", value
    if isinstance(value, (str, bytes)):
        return "s", value.encode() if isinstance(value, str) else value
    return None


def node_def(op: Any, add_shapes: bool = False) -> NodeDef:
    """The message of an operation."""
    inputs = [t._as_node_def_input() for t in op.inputs] + [f"^{c.name}" for c in op.control_inputs]
    made = NodeDef(name=op.name, op=op.type, input=inputs, device=op.device)
    if "T" not in op.attributes and op.inputs:
        made.attr["T"].type = op.inputs[0].dtype.base_dtype.as_datatype_enum
    for name, value in op.attributes.items():
        if name in _SHAPES and (value is None or isinstance(value, (list, tuple))):
            made.attr[name].shape.CopyFrom(shape_proto(value))
        elif (message := attr_value(value)) is not None:
            made.attr[name].CopyFrom(message)
    if add_shapes:
        shapes = made.attr["_output_shapes"].list.shape
        shapes.extend([tensor.get_shape().as_proto() for tensor in op.outputs])
    return made


def graph_def(graph: Any, add_shapes: bool = False) -> GraphDef:
    """The message of a graph."""
    made = GraphDef(versions={"producer": _PRODUCER})
    made.node.add_read([node_def(op, add_shapes) for op in graph.get_operations()])
    return made

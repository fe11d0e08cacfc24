"""Graphs as messages of TensorFlow's files: `Graph.as_graph_def`, `Operation.node_def`.

Operations are written in TensorFlow's words where it has words for them (`forms.py`); what else
there is, branches, loops, gradients, is written in ours (`own.py`), which only `import_graph_def`
of this part reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cond import Branch
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.node_defs import own
from byparts_frontend_tf.node_defs.forms import ALIKE, FORMS, counted
from byparts_frontend_tf.node_defs.queue_forms import QUEUE_FORMS
from byparts_frontend_tf.node_defs.slices import slice_inputs
from byparts_frontend_tf.node_defs.values import attr_value, shape_value
from byparts_frontend_tf.node_defs.words import Draft, Unwritable
from byparts_tf_files.messages.graph import GraphDef, NodeDef
from byparts_tf_files.tensors import make_tensor_proto

_PRODUCER = 134  # TensorFlow 1.15's version of graphs
_SHAPES = ("shape", "element_shape")


def node_def(op: Operation, add_shapes: bool = False) -> NodeDef:
    """The message of an operation, without those of constants that it needs besides."""
    return list(_nodes(op, add_shapes, own.Writer()))[-1]


def graph_def(
    graph: Graph, add_shapes: bool = False, from_version: Optional[int] = None
) -> GraphDef:
    """The message of a graph, from the operation number `from_version` on."""
    made = GraphDef(versions={"producer": _PRODUCER})
    words = own.Writer()
    ops = graph.get_operations()[from_version or 0 :]
    made.node.add_read([n for op in ops for n in _nodes(op, add_shapes, words)])
    return made


def _nodes(op: Operation, add_shapes: bool, words: own.Writer) -> Iterator[NodeDef]:
    """The message of an operation, behind those of constants that it needs."""
    made = NodeDef(name=op.name, op=op.type, device=op.device)
    made.input.extend([t._as_node_def_input() for t in op.inputs])
    draft = Draft(op, made)
    if not _in_their_words(draft):
        draft = Draft(op, _in_ours(op, words))
        made = draft.made
    yield from _constants(draft)
    made.input.extend([f"^{c.name}" for c in op.control_inputs])
    if add_shapes:
        shapes = made.attr["_output_shapes"].list.shape
        shapes.extend([tensor.get_shape().as_proto() for tensor in op.outputs])
    yield made


def _in_their_words(draft: Draft) -> bool:
    """Whether TensorFlow has words for an operation; it is then written in them."""
    op = draft.op
    if op.body is not None:
        return False
    for name, value in counted(op).items():
        draft.put(name, value)
    if op.type == "Const":
        draft.put("dtype", op.attributes["dtype"])
        draft.put("value", op.attributes["value"])
        return True
    try:
        if op.type == "StridedSlice":
            slice_inputs(draft)
            return True
        if op.type == "Pad":
            return _padded(draft)
        form = FORMS.get(op.type) or QUEUE_FORMS.get(op.type)
        if form is None:
            return op.type in ALIKE and not op.attributes and not _reads_at_once(op)
        form.write(draft)
    except Unwritable:
        return False
    return True


def _reads_at_once(op: Operation) -> bool:
    """Whether `op` is a variable's "read": an identity of its memory that is no memory itself."""
    return (
        op.type == "Identity"
        and op.name.endswith("/read")
        and (op.inputs[0].variable is not None and op.outputs[0].variable is None)
    )


def _padded(draft: Draft) -> bool:
    mode, value = (draft.op.attributes[k] for k in ("mode", "value"))
    if mode != "constant":
        draft.made.op = "MirrorPad"
        draft.put("mode", mode.upper())
    elif value is None:
        return False
    elif value != 0:
        draft.made.op = "PadV2"
        kind = draft.op.inputs[0].dtype.as_numpy_dtype
        draft.constants.append((2, "constant_values", np.array(value, kind)))
    return True


def _in_ours(op: Operation, words: own.Writer) -> NodeDef:
    """In our words; a Python function among the attributes is left out, with all of them."""
    made = NodeDef(name=op.name, op=op.type, device=op.device)
    made.input.extend([t._as_node_def_input() for t in op.inputs])
    for name, value in op.attributes.items():
        if name in _SHAPES and (value is None or isinstance(value, tuple)):
            made.attr[name].CopyFrom(shape_value(value))
        elif (message := attr_value(value)) is not None:
            made.attr[name].CopyFrom(message)
    try:
        made.attr[own.ATTRIBUTE].s = words.text(op).encode()
    except own.NoTextError:
        made.attr.pop(own.ATTRIBUTE, None)
    made.input.extend([f"^{r.name}" for r in _inside(op)])
    return made


def _inside(op: Operation) -> list[Operation]:
    """Operations that a branch or loop computes: so that who follows inputs finds them."""
    found: dict[Operation, None] = {}
    for value in op.attributes.values():
        for given in value.results if isinstance(value, Branch) else _listed(value):
            if isinstance(given, (Tensor, Operation)):
                found[given.op if isinstance(given, Tensor) else given] = None
    return [o for o in found if o.body is not None and o.body is not op.body]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _constants(draft: Draft) -> Iterator[NodeDef]:
    """The constants that stand for attributes, put among the inputs."""
    if not draft.constants:
        return
    inputs = list(draft.made.input)
    count = len(inputs) + len(draft.constants)
    for position, name, array in sorted(draft.constants, key=lambda c: c[0] % count):
        made = NodeDef(name=f"{draft.op.name}/{name}", op="Const", device=draft.op.device)
        made.attr["value"].tensor.CopyFrom(make_tensor_proto(array))
        made.attr["dtype"].type = made.attr["value"].tensor.dtype
        inputs.insert(position % count, made.name)
        yield made
    del draft.made.input[:]
    draft.made.input.extend(inputs)

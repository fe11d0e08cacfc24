"""Connections of layers by tensors: nodes, and layers of TensorFlow's own operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from byparts_frontend_tf.graph.nest import flatten, map_structure, pack_sequence_as
from byparts_frontend_tf.graph.operation import Operation, Tensor

OP_LAYERS: list[Callable[[Operation], Any]] = []  # makes a layer of an operation: `op_layer.py`


class KerasHistory(NamedTuple):
    """The origin of a tensor: a layer, which call of it, which output of that call."""

    layer: Any
    node_index: int
    tensor_index: int


class Node:
    """A call of a layer.

    Attributes:
        outbound_layer: the layer that was called.
        input_tensors, output_tensors: of the call, in their structures.
        arguments: its keyword arguments.
        inbound_layers: the layers that made the inputs.
    """

    def __init__(self, layer: Any, inputs: Any, outputs: Any, arguments: Any = None) -> None:
        self.outbound_layer, self.arguments = layer, dict(arguments or {})
        self.input_tensors, self.output_tensors = inputs, outputs
        self.histories: list[KerasHistory] = [t._keras_history for t in flatten(inputs)]
        self.inbound_layers = [h.layer for h in self.histories]
        self.node_indices = [h.node_index for h in self.histories]
        self.tensor_indices = [h.tensor_index for h in self.histories]
        self.input_shapes = shapes_of(inputs)
        self.output_shapes = shapes_of(outputs)
        for inbound in self.inbound_layers:
            inbound._outbound_nodes.append(self)
        layer._inbound_nodes.append(self)

    @property
    def before(self) -> Iterator[Node]:
        """The nodes that made the inputs."""
        for h in self.histories:
            yield h.layer._inbound_nodes[h.node_index]


def shapes_of(tensors: Any) -> Any:
    """Tuples of numbers and `None`, in the structure of the tensors."""
    shapes = [None if t.dims is None else tuple(t.dims) for t in flatten(tensors)]
    if isinstance(tensors, Tensor):
        return shapes[0]
    if isinstance(tensors, (list, tuple)) and len(tensors) == len(shapes):
        return shapes
    return pack_sequence_as(tensors, shapes)


_connected: list[bool] = []  # not empty once a layer was connected: else there is no history


def connect(layer: Any, inputs: Any, outputs: Any, arguments: Any = None) -> None:
    """Remember a call of a layer, and that its outputs came of it."""
    _connected[:] = [True]
    Node(layer, inputs, outputs, arguments)
    index = len(layer._inbound_nodes) - 1
    for i, t in enumerate(flatten(outputs)):
        t._keras_history = KerasHistory(layer, index, i)


def has_history(tensor: Any) -> bool:
    """Whether a layer is known that made it."""
    return hasattr(tensor, "_keras_history")


def give_history(tensors: Any) -> None:
    """Make layers of the operations between layers and these tensors.

    Nothing is done for tensors that come from no layer.
    """
    for tensor in flatten(tensors) if _connected else ():
        if isinstance(tensor, Tensor) and not has_history(tensor):
            depends = _that_depend(tensor.op)
            for op in sorted(depends, key=lambda o: o.number):
                _wrap(op)


def _that_depend(op: Operation) -> list[Operation]:
    """The operations without a layer, up to `op`, that read what layers made."""
    below: dict[Operation, bool] = {}
    stack = [op]
    while stack:
        at = stack[-1]
        waiting = [t.op for t in at.inputs if not has_history(t) and t.op not in below]
        if waiting and at not in below:
            below[at] = False
            stack.extend(waiting)
            continue
        stack.pop()
        below[at] = any(has_history(t) or below[t.op] for t in at.inputs)
    return [o for o, depends in below.items() if depends]


def _wrap(op: Operation) -> None:
    if any(has_history(t) for t in op.outputs):
        return
    layer = OP_LAYERS[0](op)
    inputs = [t for t in op.inputs if has_history(t)]
    outputs = list(op.outputs)
    connect(
        layer,
        inputs[0] if len(inputs) == 1 else inputs,
        outputs[0] if len(outputs) == 1 else outputs,
    )


def masks_of(tensors: Any) -> Any:
    """The masks of tensors, in their structure; `None` if there is none."""
    masks = [getattr(t, "_keras_mask", None) for t in flatten(tensors)]
    if all(m is None for m in masks):
        return None
    return masks[0] if isinstance(tensors, Tensor) else pack_sequence_as(tensors, masks)


def shape_like(tensors: Any) -> Any:
    """The argument of `build`: the shape, or the shapes in the structure of the tensors."""
    return map_structure(lambda t: t.get_shape(), tensors)


def reachable(wanted: Any, inputs: Any) -> bool:
    """Whether the tensor or operation `wanted` depends on one of the tensors."""
    sources = {id(t) for t in flatten(inputs)}
    start = wanted.op if isinstance(wanted, Tensor) else wanted
    if isinstance(wanted, Tensor) and id(wanted) in sources:
        return True
    seen, stack = {start}, [start]
    while stack:
        op = stack.pop()
        before = [t.op for t in op.inputs] + list(op._control_inputs)
        if any(id(t) in sources for t in op.inputs):
            return True
        for o in before:
            if o not in seen:
                seen.add(o)
                stack.append(o)
    return False

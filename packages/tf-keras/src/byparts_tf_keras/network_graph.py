"""The layers between inputs and outputs, in the order in which Keras counts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byparts_frontend_tf.graph.nest import flatten
from byparts_tf_keras.connections import Node


class NetworkGraph:
    """The calls of layers that lead from inputs to outputs.

    Attributes:
        layers: each once, those before first.
        nodes: the calls, in an order in which they can be made.
        nodes_by_depth: distance from the outputs -> calls.

    Raises:
        ValueError: outputs need what is no input; two layers have one name.
    """

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        order, indices = _walk([_node(t) for t in outputs])
        depths: dict[Node, int] = {}
        layer_depths: dict[Any, int] = {}
        for node in reversed(order):
            layer = node.outbound_layer
            depth = max(depths.get(node, 0), layer_depths.get(layer, 0))
            depths[node] = layer_depths[layer] = depth
            for before in node.before:
                depths[before] = max(depths.get(before, 0), depth + 1)
        for t in inputs:
            layer = t._keras_history.layer
            if layer not in layer_depths:
                layer_depths[layer], indices[layer] = 0, -1
                depths[_node(t)] = 0
        self.layers = sorted(indices, key=lambda la: (-layer_depths[la], indices[la]))
        ranks = {node: i for i, node in enumerate(order)}
        self.nodes_by_depth: dict[int, list[Node]] = {}
        for node in sorted(depths, key=lambda n: (-depths[n], ranks.get(n, -1))):
            self.nodes_by_depth.setdefault(depths[node], []).append(node)
        self.nodes = [n for nodes in self.nodes_by_depth.values() for n in nodes]
        self._check_connected(inputs)
        self._check_names()

    def _check_connected(self, inputs: Sequence[Any]) -> None:
        known = {id(t) for t in inputs}
        passed: list[str] = []
        for node in self.nodes:
            layer = node.outbound_layer
            for t in flatten(node.input_tensors) if node.histories else ():
                if id(t) not in known:
                    raise ValueError(
                        f"Graph disconnected: cannot obtain value for tensor {t} at layer "
                        f'"{layer.name}". The following previous layers were accessed without '
                        f"issue: {passed}"
                    )
            if node.histories:
                known.update([id(t) for t in flatten(node.output_tensors)])
                passed.append(layer.name)

    def _check_names(self) -> None:
        names = [layer.name for layer in self.layers]
        for name in names:
            if names.count(name) != 1:
                raise ValueError(
                    f'The name "{name}" is used {names.count(name)} times in the model. All layer '
                    "names should be unique."
                )


def _node(tensor: Any) -> Node:
    history = tensor._keras_history
    node: Node = history.layer._inbound_nodes[history.node_index]
    return node


def _walk(starts: list[Node]) -> tuple[list[Node], dict[Any, int]]:
    """(nodes, those before first; layer -> when it was met), depth first from the outputs."""
    order: list[Node] = []
    indices: dict[Any, int] = {}
    met: set[Node] = set()
    for start in starts:
        stack = [(start, iter(list(start.before)))] if start not in met else []
        if stack:
            met.add(start)
            indices.setdefault(start.outbound_layer, len(indices))
        while stack:
            node, rest = stack[-1]
            before = next(rest, None)
            if before is None:
                stack.pop()
                order.append(node)
            elif before not in met:
                met.add(before)
                indices.setdefault(before.outbound_layer, len(indices))
                stack.append((before, iter(list(before.before))))
    return order, indices

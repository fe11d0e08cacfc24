"""Networks as data: layers with their configurations, and which tensors they were called with."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.damage import refusing
from byparts_tf_keras.objects import custom_object_scope, deserialize, finder


def layer_classes() -> dict[str, Any]:
    """Name -> class, of the layers and models of `tf.keras`."""
    from byparts_frontend_tf import keras

    places = (keras.layers, keras.models)
    classes = {n: getattr(p, n) for p in places for n in dir(p) if n[0].isupper()}
    return {**classes, "Functional": classes["Model"]}


_find = finder(layer_classes, "layer")


@symbol("keras.layers.deserialize")
def layer_of(config: Any, custom_objects: Any = None) -> Any:
    """A layer of its class and its configuration."""
    with custom_object_scope(custom_objects or {}):
        return deserialize(config, layer_classes(), custom_objects, "layer")


@symbol("keras.layers.serialize")
def serialize(layer: Any) -> dict[str, Any]:
    """The class and the configuration of a layer."""
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


def network_config(network: Any) -> dict[str, Any]:
    """Name and layers of a network, and the tensors where it begins and ends."""
    nodes = set(network._graph.nodes)
    numbers: dict[Any, int] = {}
    for layer in network.layers:
        own = [n for n in layer._inbound_nodes if n in nodes]
        numbers.update({n: i for i, n in enumerate(own)})

    def place(history: Any) -> list[Any]:
        node = history.layer._inbound_nodes[history.node_index]
        return [history.layer.name, numbers.get(node, 0), history.tensor_index]

    layers = []
    for layer in network.layers:
        calls = [
            [[*place(h), _data(n.arguments)] for h in n.histories]
            for n in layer._inbound_nodes
            if n in nodes and n.histories
        ]
        layers.append({"name": layer.name, **serialize(layer), "inbound_nodes": calls})
    return {
        "name": network.name,
        "layers": layers,
        "input_layers": [place(t._keras_history) for t in network.inputs],
        "output_layers": [place(t._keras_history) for t in network.outputs],
    }


def _data(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments that are data; tensors are inputs of their own and are not said."""
    kept = {k: v for k, v in arguments.items() if not any(_is_tensor(t) for t in flatten(v))}
    if len(kept) != len(arguments):
        lost = sorted(set(arguments) - set(kept))
        raise NotImplementedError(
            f"a tensor is given to a layer as {lost}: such a model has no configuration here"
        )
    return kept


def _is_tensor(thing: Any) -> bool:
    return isinstance(thing, Tensor)


def network_from(config: dict[str, Any], custom: dict[str, Any]) -> tuple[Any, Any]:
    """(inputs, outputs) of the network of a configuration.

    Raises:
        ValueError: it names what it does not have.
    """
    layers = {}
    for entry in config["layers"]:
        with refusing(f"layer {entry['name']!r:.80}"):
            layers[entry["name"]] = layer_of(entry, custom)
    firsts = {name: len(layer._inbound_nodes) for name, layer in layers.items()}
    is_input = {e["name"] for e in config["layers"] if e["class_name"] == "InputLayer"}
    waiting = [
        (entry["name"], call) for entry in config["layers"] for call in entry["inbound_nodes"]
    ]

    def tensor(name: str, node: int, index: int) -> Any:
        layer = layers[name]
        at = node if name in is_input else node + firsts[name]
        if at >= len(layer._inbound_nodes):
            return None
        return flatten(layer._inbound_nodes[at].output_tensors)[index]

    while waiting:
        later = []
        for name, call in waiting:
            inputs = [tensor(*entry[:3]) for entry in call]
            if any(t is None for t in inputs):
                later.append((name, call))
                continue
            arguments = call[0][3] if len(call[0]) > 3 else {}
            layers[name](inputs[0] if len(inputs) == 1 else inputs, **arguments)
        if len(later) == len(waiting):
            raise ValueError(f"the configuration of a model lacks the inputs of {waiting[0][0]}")
        waiting = later
    inputs = [tensor(*entry) for entry in _entries(config["input_layers"])]
    return inputs, [tensor(*entry) for entry in _entries(config["output_layers"])]


def _entries(entries: Any) -> Any:
    return [entries] if entries and isinstance(entries[0], str) else entries

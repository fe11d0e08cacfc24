"""`model.summary()`, as TensorFlow 1.15 prints it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def print_summary(
    model: Any, line_length: Any, positions: Any, print_fn: Callable[[str], Any]
) -> None:
    """Print layers, shapes, parameters, and where there are branches, connections."""
    sequential = _is_sequential(model)
    line_length = line_length or (65 if sequential else 98)
    positions = positions or ([0.45, 0.85, 1.0] if sequential else [0.33, 0.55, 0.67, 1.0])
    if positions[-1] <= 1:
        positions = [int(line_length * p) for p in positions]
    nodes = {n for ns in model._nodes_by_depth.values() for n in ns}

    def row(fields: Sequence[Any]) -> None:
        print_fn(_row(fields, positions))

    print_fn(f'Model: "{model.name}"')
    print_fn("_" * line_length)
    more = [] if sequential else ["Connected to"]
    row(["Layer (type)", "Output Shape", "Param #", *more])
    print_fn("=" * line_length)
    layers = model.layers
    for i, layer in enumerate(layers):
        fields = [f"{layer.name} ({type(layer).__name__})", _shape(layer), _count(layer)]
        connections = [] if sequential else _connections(layer, nodes)
        row([*fields, *([] if sequential else [connections[0] if connections else ""])])
        for connection in connections[1:]:
            row(["", "", "", connection])
        print_fn(("=" if i == len(layers) - 1 else "_") * line_length)
    trained = getattr(model, "_collected_trainable_weights", model.trainable_weights)
    counts = [sum([w.shape.num_elements() for w in ws]) for ws in (trained, _others(model))]
    print_fn(f"Total params: {sum(counts):,}")
    print_fn(f"Trainable params: {counts[0]:,}")
    print_fn(f"Non-trainable params: {counts[1]:,}")
    print_fn("_" * line_length)


def _row(fields: Sequence[Any], positions: Sequence[int]) -> str:
    """The fields in a line, each up to its position."""
    line = ""
    for i, field in enumerate(fields):
        if i > 0:
            line = line[:-1] + " "
        line = (line + str(field))[: positions[i]]
        line += " " * (positions[i] - len(line))
    return line


def _others(model: Any) -> list[Any]:
    return list(model.non_trainable_weights)


def _is_sequential(model: Any) -> bool:
    if not model._is_graph_network or type(model).__name__ == "Sequential":
        return True
    by_depth = model._nodes_by_depth
    if any(len(ns) > 1 or len(ns[0].inbound_layers) > 1 for ns in by_depth.values()):
        return False
    nodes = {n for ns in by_depth.values() for n in ns}
    return all(sum(n in nodes for n in layer._inbound_nodes) < 2 for layer in model.layers)


def _shape(layer: Any) -> Any:
    try:
        return layer.output_shape
    except AttributeError:
        return "multiple"


def _count(layer: Any) -> Any:
    if not layer.built and not getattr(layer, "_is_graph_network", False):
        return "0 (unused)"
    return layer.count_params()


def _connections(layer: Any, nodes: set[Any]) -> list[str]:
    return [
        f"{h.layer.name}[{h.node_index}][{h.tensor_index}]"
        for n in layer._inbound_nodes
        if not nodes or n in nodes
        for h in n.histories
    ]

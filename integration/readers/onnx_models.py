"""Models of ONNX, field by field and byte by byte; what is accepted is a graph with its weights."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np

from byparts_conformance.fuzz.mutations import NUMBERS, TEXTS, changed_bytes
from byparts_conformance.fuzz.reader import Data, Reader
from byparts_graph_ir import GraphError, verify

_MOST_WEIGHTS = 1 << 26  # bytes that a model of a few kilobytes may make


def onnx_model() -> Reader:
    """`from_onnx`, of a convolution, shape arithmetic, an LSTM, a loop and a branch."""
    import onnx

    from byparts_frontend_onnx import Imported, from_onnx

    def mutate(random: Random, seed: bytes) -> Data:
        if random.random() < 0.2:
            return changed_bytes(random, seed)
        model = onnx.ModelProto.FromString(seed)
        for _ in range(random.choice((1, 1, 1, 2, 3))):
            places = list(_places(model))
            _change(random, *random.choice(places), places)
        return bytes(model.SerializeToString())

    def check(imported: Imported) -> None:
        verify(imported.graph)
        assert sum(a.nbytes for a in imported.weights.values()) <= _MOST_WEIGHTS
        assert len(imported.graph.inputs) == len(imported.inputs) + len(imported.weights)

    return Reader("onnx", _seeds(), mutate, from_onnx, check, (GraphError,))


def _seeds() -> list[bytes]:
    from onnx import helper, numpy_helper

    node, rows = helper.make_node, np.random.default_rng(0)

    def graph(nodes: list[Any], inputs: dict[str, Any], outputs: list[str], **weights: Any) -> Any:
        return helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(n, *t) for n, t in inputs.items()],
            [helper.make_tensor_value_info(n, 1, None) for n in outputs],
            [numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items()],
        )

    def f(*shape: int) -> Any:
        return rows.standard_normal(shape).astype("f4")

    image = graph(
        [
            node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
            node("Relu", ["c"], ["r"]),
            node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            node("Resize", ["p", "", "s"], ["z"], mode="linear"),
            node("Shape", ["z"], ["shape"]),
            node("Slice", ["shape", "zero", "one"], ["n"]),
            node("Concat", ["n", "rest"], ["target"], axis=0),
            node("Reshape", ["z", "target"], ["y"]),
        ],
        {"x": (1, ["n", 3, 8, 8])},
        ["y"],
        **{"w": f(4, 3, 3, 3), "s": np.array([1, 1, 2, 2], "f4"), "rest": np.array([-1])},
        **{"zero": np.array([0]), "one": np.array([1])},
    )
    body = graph(
        [node("Identity", ["go"], ["go2"]), node("Add", ["v", "h"], ["v2"])],
        {"i": (7, []), "go": (9, []), "v": (1, [1, "b", 4])},
        ["go2", "v2"],
    )
    same = graph([node("Neg", ["out"], ["neg"])], {}, ["neg"])
    other = graph([node("Identity", ["out"], ["it"])], {}, ["it"])
    text = graph(
        [
            node("LSTM", ["x", "w", "r", "", "len"], ["ys", "h"], hidden_size=4),
            node("Loop", ["k", "", "h"], ["out"], body=body),
            node("If", ["flag"], ["y"], then_branch=same, else_branch=other),
        ],
        {"x": (1, ["t", "b", 3]), "len": (6, ["b"]), "k": (7, []), "flag": (9, [])},
        ["y"],
        **{"w": f(1, 16, 3), "r": f(1, 16, 4)},
    )
    imports = [helper.make_opsetid("", 18)]
    models = [helper.make_model(g, opset_imports=imports, ir_version=10) for g in (image, text)]
    return [m.SerializeToString() for m in models]


def _places(message: Any, depth: int = 0) -> Iterator[tuple[Any, Any]]:
    """Messages, each with a field that is there."""
    for field, value in message.ListFields() if depth < 12 else ():
        yield message, field
        inner = value if field.is_repeated else [value]
        for part in inner if field.message_type is not None else ():
            yield from _places(part, depth + 1)


def _change(random: Random, message: Any, field: Any, places: list[tuple[Any, Any]]) -> None:
    value = getattr(message, field.name)
    try:
        if random.random() < 0.2 or (field.message_type is not None and not field.is_repeated):
            message.ClearField(field.name)
        elif field.is_repeated:
            _change_list(random, value, field, places)
        else:
            setattr(message, field.name, _other(random, value, places))
    except (TypeError, ValueError):
        message.ClearField(field.name)  # a value out of range


def _change_list(random: Random, values: Any, field: Any, places: list[tuple[Any, Any]]) -> None:
    i, kind = random.randrange(len(values)), random.randrange(3)
    if kind == 0:
        del values[i]
    elif field.message_type is not None:
        values.add().CopyFrom(values[i])
    elif kind == 1:
        values.append(_other(random, values[i], places))
    else:
        values[i] = _other(random, values[i], places)


def _other(random: Random, value: Any, places: list[tuple[Any, Any]]) -> Any:
    """A value of the same kind, from the file or from what breaks readers."""
    own = [getattr(m, f.name) for m, f in places if not f.is_repeated]
    if isinstance(value, bytes):
        return changed_bytes(random, value)
    if isinstance(value, str):
        texts = [v for v in own if isinstance(v, str)]
        return random.choice([*texts, *TEXTS, "Gather", "Expand", "Tile", "Range", "Loop"])
    near = [int(value) + d for d in (-1, 1)] if abs(value) < 1e9 else []
    numbers = [n for n in NUMBERS if isinstance(value, float) or isinstance(n, int)]
    return type(value)(random.choice([*near, *numbers, 0, 1, -1, 2, 7, 100000]))

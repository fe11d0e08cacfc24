"""Networks in a few words: a line for each layer, "dense 8 tanh" or "dense 1"."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, Value

ACTIVATIONS: Mapping[str, Callable[[Value], Value]] = {"tanh": ops.tanh, "relu": ops.relu}


def read(text: str, inputs: int) -> Graph:
    """The program (x, w1, b1, w2, b2, ...) -> y, with x: [n, inputs].

    Raises:
        ValueError: a line that is no layer, with its number.
    """
    x = Input(TensorType("f32", ("n", inputs)), None, "x")
    given: list[Input] = [x]
    y: Value = x
    for i, line in enumerate(filter(str.strip, text.splitlines()), 1):
        match line.split():
            case ["dense", width, *rest] if width.isdigit() and _known(rest):
                w = Input(TensorType("f32", (inputs, int(width))), None, f"w{i}")
                b = Input(TensorType("f32", (int(width),)), None, f"b{i}")
                given += [w, b]
                y = y @ w + b
                y = ACTIVATIONS[rest[0]](y) if rest else y
                inputs = int(width)
            case _:
                known = ", ".join(ACTIVATIONS)
                raise ValueError(f"layer {i} is {line!r}; write 'dense WIDTH', and one of {known}")
    return Graph.of(given, (y,))


def _known(activation: list[str]) -> bool:
    return not activation or (len(activation) == 1 and activation[0] in ACTIVATIONS)

"""The works in byparts: a graph of named dimensions each, built at its first call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from works import BLOCKS, CELLS, HEADS, RATE, TRAINED, WIDTH, Arrays, dense_layers, inputs, weights

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType
from byparts_runtime import Executor, Variable


def make(work: str, *backends: str) -> tuple[Callable[[Arrays], Any], Callable[[Arrays], str]]:
    """A call, and a function that says why the program of some inputs is built as it is."""
    names = {"cnn": {2: "h", 3: "w"}, "gpt": {1: "n"}, "train": {1: "n"}}.get(work, {0: "n"})
    size = (64, 64) if work == "cnn" else (8,)
    x = {
        k: Input(TensorType("f32", tuple(names.get(i, d) for i, d in enumerate(a.shape))), name=k)
        for k, a in inputs(work, size).items()
    }
    arrays = weights(work)
    w = {k: Input(TensorType("f32", a.shape), name=k) for k, a in arrays.items()}
    models: dict[str, Any] = {"tagger": tagger, "cnn": cnn, "mlp": mlp}
    y = models.get(work, blocks)(x["x"], w)
    executor = Executor(backends=backends, capacity=1000)
    variables, kept = [Variable(k, a) for k, a in arrays.items()], list(w.values())
    outputs, feeds, state = [y], list(x.values()), {"count": 0}
    if work in TRAINED:
        loss = ops.mean(
            ops.softmax_cross_entropy(y, x["t"]) if work == "mlp" else ops.square(y - x["t"])
        )
        count = Input(TensorType("f32", ()), name="count")
        slots = [[Input(v.type, name=f"{s}_{k}") for k, v in w.items()] for s in "mv"]
        new = ops.adam(kept, slots[0], slots[1], gradients(loss, tuple(kept)), RATE, count)
        outputs, feeds = [loss, *(v for row in new for v in row)], [*feeds, count]
        kept = [*kept, *slots[0], *slots[1]]
        variables += [Variable(v.name, v.type) for s in slots for v in s]
    graph = Graph.of([*feeds, *kept], outputs)
    options: Any = {"variables": variables, "updates": variables if work in TRAINED else ()}

    def fed(given: Arrays) -> list[Any]:
        return [*given.values(), *([np.float32(state["count"])] if work in TRAINED else [])]

    def call(given: Arrays) -> Any:
        state["count"] += 1
        return executor(graph, *fed(given), **options)[0]

    def why(given: Arrays) -> str:
        types = tuple(TensorType("f32", np.shape(a)) for a in fed(given))
        return str(executor.program(graph, types, **options).why)

    return call, why


def blocks(x: Any, weights: Arrays) -> Any:
    """Pre-norm transformer blocks with causal attention: [1, n, WIDTH] -> [1, n, WIDTH]."""
    for i in range(BLOCKS):
        w = {k.removesuffix(str(i)): v for k, v in weights.items() if k.endswith(str(i))}
        h = ops.layer_norm(x, w["g"], w["b"])
        parted = [ops.reshape(h @ w[c], (1, -1, HEADS, WIDTH // HEADS)) for c in "qkv"]
        q, k, v = [ops.transpose(p, (0, 2, 1, 3)) for p in parted]
        a = ops.attention(q, k, v, causal=True)
        x = x + ops.reshape(ops.transpose(a, (0, 2, 1, 3)), (1, -1, WIDTH)) @ w["o"]
        h = ops.layer_norm(x, w["gg"], w["bb"])
        x = x + ops.gelu(h @ w["u"]) @ w["d"]
    return x


def tagger(x: Any, w: Arrays) -> Any:
    """An LSTM by `scan`, and a score for each tag."""

    def round_(h: Any, c: Any, of_x: Any, wh: Any) -> Any:
        a, f, g, o = ops.split(ops.expand_dims(of_x, 0) + h @ wh, 4, 1)
        c = ops.sigmoid(f) * c + ops.sigmoid(a) * ops.tanh(g)
        h = ops.sigmoid(o) * ops.tanh(c)
        return h, c, ops.reshape(h, (CELLS,))

    start = ops.fill(0.0, "f32", (1, CELLS))
    *_, hidden = ops.scan(round_, (start, start), (x @ w["wx"] + w["b"],), (w["wh"],))
    return hidden @ w["wo"]


def cnn(x: Any, w: Arrays) -> Any:
    """Convolutions, a pool, the mean over the image, a score for each class."""
    for i in range(3):
        x = ops.conv2d(x, w[f"c{i}"], 2 if i == 0 else 1, 1)
        x = ops.relu(x + ops.expand_dims(w[f"b{i}"], (1, 2)))
        x = ops.max_pool(x, (2, 2), (2, 2)) if i == 1 else x
    return ops.mean(x, (2, 3)) @ w["wo"]


mlp = partial(dense_layers, ops.relu)

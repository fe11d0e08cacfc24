"""The works of the benchmark of many shapes: sizes, weights and inputs, equal in each process.

gpt     four GPT blocks, inference      x: [1, n, 128]                          n of 1 to 512
train   the same, a step of Adam        x, t: [1, n, 128], mean square          n of 1 to 512
tagger  LSTM over n words, inference    x: [n, 64] -> [n, 16]                   n of 1 to 512
cnn     three convolutions, inference   x: [1, 3, h, w] -> [1, 10]              64 to 256 each
mlp     three layers, a step of Adam    x: [n, 784], t: [n, 10], cross entropy  n of 1 to 256
"""

from __future__ import annotations

from typing import Any

import numpy as np

WIDTH, HEADS, BLOCKS, RATE = 128, 4, 4, 1e-3
WORDS, CELLS, TAGS = 64, 128, 16
LAYERS = (784, 256, 256, 10)
CHANNELS = (3, 32, 64, 64)  # the first convolution has stride 2
RANGES = {"gpt": (1, 512), "train": (1, 512), "tagger": (1, 512), "cnn": (64, 256), "mlp": (1, 256)}
TRAINED = ("train", "mlp")

Arrays = dict[str, Any]


def sizes(work: str, count: int) -> list[tuple[int, ...]]:
    """The first `count` sizes of a fixed random order: (n,), or (h, w) of an image."""
    numbers, (low, high) = np.random.default_rng(1), RANGES[work]
    axes = 2 if work == "cnn" else 1
    drawn = [numbers.permutation(np.arange(low, high + 1))[:count] for _ in range(axes)]
    return [tuple(int(n) for n in row) for row in zip(*drawn, strict=True)]


def weights(work: str) -> Arrays:
    """The weights of a work."""
    numbers, shapes = np.random.default_rng(0), dict[str, tuple[int, ...]]()
    if work in ("gpt", "train"):
        for i in range(BLOCKS):
            shapes |= {f"{c}{i}": (WIDTH, WIDTH) for c in "qkvo"}
            shapes |= {f"u{i}": (WIDTH, 4 * WIDTH), f"d{i}": (4 * WIDTH, WIDTH)}
            shapes |= {f"{c}{i}": (WIDTH,) for c in ("g", "b", "gg", "bb")}
    elif work == "tagger":
        shapes |= {"wx": (WORDS, 4 * CELLS), "wh": (CELLS, 4 * CELLS), "b": (4 * CELLS,)}
        shapes |= {"wo": (CELLS, TAGS)}
    elif work == "cnn":
        for i in range(3):
            shapes |= {f"c{i}": (CHANNELS[i + 1], CHANNELS[i], 3, 3), f"b{i}": (CHANNELS[i + 1],)}
        shapes |= {"wo": (CHANNELS[-1], 10)}
    else:
        for i in range(3):
            shapes |= {f"w{i}": LAYERS[i : i + 2], f"b{i}": (LAYERS[i + 1],)}
    return {k: (numbers.standard_normal(s) * 0.05).astype(np.float32) for k, s in shapes.items()}


def inputs(work: str, size: tuple[int, ...]) -> Arrays:
    """The inputs of a call at a size."""
    numbers, (n, *_) = np.random.default_rng(size), size
    by_work: dict[str, dict[str, tuple[int, ...]]] = {
        "gpt": {"x": (1, n, WIDTH)},
        "train": {"x": (1, n, WIDTH), "t": (1, n, WIDTH)},
        "tagger": {"x": (n, WORDS)},
        "cnn": {"x": (1, 3, *size)},
        "mlp": {"x": (n, LAYERS[0])},
    }
    shapes = by_work[work]
    arrays = {k: numbers.standard_normal(s).astype(np.float32) for k, s in shapes.items()}
    if work == "mlp":
        arrays["t"] = np.eye(LAYERS[-1], dtype=np.float32)[numbers.integers(0, LAYERS[-1], n)]
    return arrays


def dense_layers(relu: Any, x: Any, w: Arrays) -> Any:
    """The three layers of mlp, with the arithmetic of any peer: [n, 784] -> [n, 10]."""
    return relu(relu(x @ w["w0"] + w["b0"]) @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]

"""The programs that are timed: each once, in the words of a library, on the same numbers.

They are those of the notes' side-by-side benchmark: softmax regression (w1), a multilayer
perceptron with Adam (w2), LeNet (w3), ResNet-18 (w4), an unrolled LSTM (w5), GPT blocks with Adam
(w6), GELU between elementwise ops (w7a), a softmax of a layer norm (w7b), and chains of tiny
elementwise ops (w8) and products (w8m).  On a GPU there is a larger w6 as well, which has work for
it.  `words.py` has the words of ours, of torch and of JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Values = Mapping[str, Any]  # of the graph, or arrays of a library
Define = Callable[[Any, Values], Any]  # (words of a library, values) -> a loss, or an output


@dataclass(frozen=True)
class Workload:
    """A loss of inputs and weights, or without an optimizer just an output.

    Attributes:
        inputs: arrays by name.
        weights: likewise.
        define: the program.
        optimizer: "sgd", "adam" or "".
    """

    inputs: dict[str, Any]
    weights: dict[str, Any]
    define: Define
    optimizer: str = "sgd"
    rate: float = 0.01


def workload(name: str, small: bool) -> Workload:
    """One of `NAMES`; a small one only proves that it runs."""
    return _MAKERS[name](np.random.default_rng(0), small)


def _softmax_regression(rng: Any, small: bool) -> Workload:
    batch = 8 if small else 100
    inputs = {"x": _normal(rng, batch, 784), "y": _one_hot(rng, batch)}

    def define(f: Any, v: Values) -> Any:
        return f.cross_entropy(v["x"] @ v["w"] + v["b"], v["y"])

    return Workload(inputs, {"w": _weight(rng, 784, 10), "b": _zeros(10)}, define)


def _perceptron(rng: Any, small: bool) -> Workload:
    batch, width = (8, 16) if small else (128, 256)
    inputs = {"x": _normal(rng, batch, 784), "y": _one_hot(rng, batch)}
    sizes = (784, width, width, 10)
    weights = {f"w{n}": _weight(rng, *sizes[n : n + 2]) for n in range(3)}
    weights |= {f"b{n}": _zeros(sizes[n + 1]) for n in range(3)}

    def define(f: Any, v: Values) -> Any:
        hidden = f.relu(f.relu(v["x"] @ v["w0"] + v["b0"]) @ v["w1"] + v["b1"])
        return f.cross_entropy(hidden @ v["w2"] + v["b2"], v["y"])

    return Workload(inputs, weights, define, "adam", 1e-3)


def _lenet(rng: Any, small: bool) -> Workload:
    batch = 4 if small else 100
    inputs = {"x": _normal(rng, batch, 1, 28, 28), "y": _one_hot(rng, batch)}
    weights = {
        "c1": _weight(rng, 20, 1, 5, 5),
        "c2": _weight(rng, 50, 20, 5, 5),
        "w1": _weight(rng, 800, 500),
        "w2": _weight(rng, 500, 10),
        **{"d1": _zeros(20, 1, 1), "d2": _zeros(50, 1, 1), "b1": _zeros(500), "b2": _zeros(10)},
    }

    def define(f: Any, v: Values) -> Any:
        x = v["x"]
        for n in "12":
            x = f.max_pool(f.tanh(f.conv(x, v[f"c{n}"], 1, 0) + v[f"d{n}"]))
        hidden = f.tanh(f.reshape(x, (-1, 800)) @ v["w1"] + v["b1"])
        return f.cross_entropy(hidden @ v["w2"] + v["b2"], v["y"])

    return Workload(inputs, weights, define)


_STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))  # of ResNet-18: channels, stride of the first


def _resnet(rng: Any, small: bool) -> Workload:
    batch, rows, share = (2, 8, 16) if small else (128, 32, 1)
    inputs = {"x": _normal(rng, batch, 3, rows, rows), "y": _one_hot(rng, batch)}
    before = _STAGES[0][0] // share
    weights: dict[str, Any] = {"stem": _weight(rng, before, 3, 3, 3)}
    blocks: list[tuple[str, int]] = []
    norms = {"stem.n": before}
    for s, (width, first) in enumerate(_STAGES):
        for b, stride in enumerate((first, 1)):
            name, after = f"{s}.{b}", width // share
            weights[f"{name}.c1"] = _weight(rng, after, before, 3, 3)
            weights[f"{name}.c2"] = _weight(rng, after, after, 3, 3)
            norms |= {f"{name}.n1": after, f"{name}.n2": after}
            if stride != 1 or before != after:
                weights[f"{name}.d"] = _weight(rng, after, before, 1, 1)
                norms[f"{name}.nd"] = after
            blocks.append((name, stride))
            before = after
    weights |= {f"{k}.g": _zeros(n) + 1 for k, n in norms.items()}
    weights |= {f"{k}.b": _zeros(n) for k, n in norms.items()}
    weights |= {"w": _weight(rng, before, 10), "b": _zeros(10)}

    def define(f: Any, v: Values) -> Any:
        def normal(name: str, x: Any) -> Any:
            return f.batch_norm(x, v[f"{name}.g"], v[f"{name}.b"])

        x = f.relu(normal("stem.n", f.conv(v["x"], v["stem"], 1, 1)))
        for name, stride in blocks:
            y = f.relu(normal(f"{name}.n1", f.conv(x, v[f"{name}.c1"], stride, 1)))
            y = normal(f"{name}.n2", f.conv(y, v[f"{name}.c2"], 1, 1))
            if f"{name}.d" in weights:
                x = normal(f"{name}.nd", f.conv(x, v[f"{name}.d"], stride, 0))
            x = f.relu(x + y)
        return f.cross_entropy(f.mean_over(x, (2, 3)) @ v["w"] + v["b"], v["y"])

    return Workload(inputs, weights, define)


def _lstm(rng: Any, small: bool) -> Workload:
    steps, batch, width = (3, 2, 8) if small else (64, 32, 256)
    inputs = {
        "x": _normal(rng, steps, batch, width),
        "t": _normal(rng, steps, batch, width),
        "h": _zeros(batch, width),
    }
    weights = {"wx": _weight(rng, width, 4 * width), "wh": _weight(rng, width, 4 * width)}

    def define(f: Any, v: Values) -> Any:
        h = c = v["h"]
        found = []
        for x in f.unstack(v["x"]):
            i, forget, g, o = f.split4(x @ v["wx"] + v["b"] + h @ v["wh"])
            c = f.sigmoid(forget) * c + f.sigmoid(i) * f.tanh(g)
            h = f.sigmoid(o) * f.tanh(c)
            found.append(h)
        return f.mean_square(f.stack(found) - v["t"])

    return Workload(inputs, {**weights, "b": _zeros(4 * width)}, define)


def _gpt(rng: Any, small: bool, width: int = 256, length: int = 128, batch: int = 8) -> Workload:
    layers, heads = (1, 2) if small else (4, width // 64)
    batch, length, width = (2, 4, 8) if small else (batch, length, width)
    inputs = {k: _normal(rng, batch, length, width) for k in "xt"}
    weights: dict[str, Any] = {}
    for n in range(layers):
        for name, rows, columns in (("qkv", 1, 3), ("o", 1, 1), ("f", 1, 4), ("p", 4, 1)):
            weights[f"{n}.w{name}"] = _weight(rng, rows * width, columns * width)
            weights[f"{n}.b{name}"] = _zeros(columns * width)
        for name in ("a", "c"):
            weights |= {f"{n}.g{name}": _zeros(width) + 1, f"{n}.s{name}": _zeros(width)}
    sizes = (layers, batch, length, heads, width // heads)

    def define(f: Any, v: Values) -> Any:
        return f.mean_square(_blocks(f, v, sizes) - v["t"])

    return Workload(inputs, weights, define, "adam", 1e-4)


def _blocks(f: Any, v: Values, sizes: tuple[int, ...]) -> Any:
    """Pre-norm transformer blocks with causal attention."""
    layers, batch, length, heads, depth = sizes
    x = v["x"]
    for n in range(layers):
        w = {k.partition(".")[2]: value for k, value in v.items() if k.startswith(f"{n}.")}
        normal = f.layer_norm(x, w["ga"], w["sa"])
        parts = f.reshape(normal @ w["wqkv"] + w["bqkv"], (batch, length, 3, heads, depth))
        q, k, values = f.unstack(f.transpose(parts, (2, 0, 3, 1, 4)))
        y = f.transpose(f.attention(q, k, values), (0, 2, 1, 3))
        x = x + (f.reshape(y, (batch, length, heads * depth)) @ w["wo"] + w["bo"])
        hidden = f.gelu(f.layer_norm(x, w["gc"], w["sc"]) @ w["wf"] + w["bf"])
        x = x + (hidden @ w["wp"] + w["bp"])
    return x


def _large_gpt(rng: Any, small: bool) -> Workload:
    return _gpt(rng, small, 1024, 512, 8)


def _rows(rng: Any, small: bool) -> Workload:
    shape = (8, 40) if small else (4096, 4096)

    def define(f: Any, v: Values) -> Any:
        t = f.gelu(v["a"] * v["b"] + v["c"]) * v["d"]
        return t - f.mean_of_rows(t)

    return Workload({k: _normal(rng, *shape) for k in "abcd"}, {}, define, "")


def _norm_softmax(rng: Any, small: bool) -> Workload:
    rows, columns = (8, 40) if small else (4096, 1024)
    inputs = {"x": _normal(rng, rows, columns), "g": _normal(rng, columns), "b": _zeros(columns)}

    def define(f: Any, v: Values) -> Any:
        return f.softmax(f.layer_norm(v["x"], v["g"], v["b"]))

    return Workload(inputs, {}, define, "")


def _chain(rng: Any, small: bool) -> Workload:
    count = 10 if small else 1000

    def define(f: Any, v: Values) -> Any:
        x = v["x"]
        for _ in range(count // 2):
            x = x * v["b"] + v["a"]
        return x

    inputs = {"x": _normal(rng, 8), "a": _normal(rng, 8) / 100, "b": _zeros(8) + 0.99}
    return Workload(inputs, {}, define, "")


def _products(rng: Any, small: bool) -> Workload:
    count = 5 if small else 200

    def define(f: Any, v: Values) -> Any:
        x = v["x"]
        for _ in range(count):
            x = x @ v["w"]
        return x

    return Workload({"x": _normal(rng, 1, 8), "w": _weight(rng, 8, 8)}, {}, define, "")


_MAKERS: dict[str, Callable[[Any, bool], Workload]] = {
    **{"w1": _softmax_regression, "w2": _perceptron, "w3": _lenet, "w4": _resnet, "w5": _lstm},
    **{"w6": _gpt, "w6-large": _large_gpt, "w7a": _rows, "w7b": _norm_softmax},
    **{"w8": _chain, "w8m": _products},
}
NAMES = tuple(_MAKERS)


def _normal(rng: Any, *shape: int) -> Any:
    return rng.standard_normal(shape, np.float32)


def _weight(rng: Any, *shape: int) -> Any:
    """Scaled by what goes into each output."""
    inputs = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
    return _normal(rng, *shape) / np.float32(np.sqrt(inputs))


def _zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def _one_hot(rng: Any, batch: int) -> Any:
    return np.eye(10, dtype=np.float32)[rng.integers(0, 10, batch)]

"""The programs that are timed: each once in our ops and once in torch, on the same numbers.

They are those of the notes' side-by-side benchmark: softmax regression (w1), a multilayer
perceptron with Adam (w2), LeNet (w3), ResNet-18 (w4), an unrolled LSTM (w5), GPT blocks with Adam
(w6), GELU between elementwise ops (w7a), a softmax of a layer norm (w7b), and chains of tiny
elementwise ops (w8) and products (w8m).  On a GPU there is a larger w6 as well, which has work for
it.  Without torch there are ours alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import byparts_opset as ops

try:
    import torch
    import torch.nn.functional as functional
except ImportError:
    torch = functional = None

Values = Mapping[str, Any]  # of the graph, or tensors of torch


@dataclass(frozen=True)
class Workload:
    """A loss of inputs and weights, or without an optimizer just an output.

    Attributes:
        inputs: arrays by name.
        weights: likewise.
        ours: builds the graph from values by name.
        theirs: the same from tensors.
        optimizer: "sgd", "adam" or "".
    """

    inputs: dict[str, Any]
    weights: dict[str, Any]
    ours: Callable[[Values], Any]
    theirs: Callable[[Values], Any]
    optimizer: str = "sgd"
    rate: float = 0.01


def workload(name: str, small: bool) -> Workload:
    """One of `NAMES`; a small one only proves that it runs."""
    return _MAKERS[name](np.random.default_rng(0), small)


def _softmax_regression(rng: Any, small: bool) -> Workload:
    batch = 8 if small else 100
    inputs = {"x": _normal(rng, batch, 784), "y": _one_hot(rng, batch)}

    def ours(v: Values) -> Any:
        return _cross_entropy(v["x"] @ v["w"] + v["b"], v["y"])

    def theirs(v: Values) -> Any:
        return functional.cross_entropy(v["x"] @ v["w"] + v["b"], v["y"])

    return Workload(inputs, {"w": _weight(rng, 784, 10), "b": _zeros(10)}, ours, theirs)


def _perceptron(rng: Any, small: bool) -> Workload:
    batch, width = (8, 16) if small else (128, 256)
    inputs = {"x": _normal(rng, batch, 784), "y": _one_hot(rng, batch)}
    sizes = (784, width, width, 10)
    weights = {f"w{n}": _weight(rng, *sizes[n : n + 2]) for n in range(3)}
    weights |= {f"b{n}": _zeros(sizes[n + 1]) for n in range(3)}

    def run(v: Values, relu: Any) -> Any:
        hidden = relu(relu(v["x"] @ v["w0"] + v["b0"]) @ v["w1"] + v["b1"])
        return hidden @ v["w2"] + v["b2"]

    def ours(v: Values) -> Any:
        return _cross_entropy(run(v, ops.relu), v["y"])

    def theirs(v: Values) -> Any:
        return functional.cross_entropy(run(v, torch.relu), v["y"])

    return Workload(inputs, weights, ours, theirs, "adam", 1e-3)


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

    def run(v: Values, conv: Any, pool: Any, tanh: Any, flat: Any) -> Any:
        x = v["x"]
        for n in "12":
            x = pool(tanh(conv(x, v[f"c{n}"]) + v[f"d{n}"]), (2, 2), (2, 2))
        return tanh(flat(x, (-1, 800)) @ v["w1"] + v["b1"]) @ v["w2"] + v["b2"]

    def ours(v: Values) -> Any:
        return _cross_entropy(run(v, ops.conv2d, ops.max_pool, ops.tanh, ops.reshape), v["y"])

    def theirs(v: Values) -> Any:
        parts = (functional.conv2d, functional.max_pool2d, torch.tanh, torch.reshape)
        return functional.cross_entropy(run(v, *parts), v["y"])

    return Workload(inputs, weights, ours, theirs)


def _lstm(rng: Any, small: bool) -> Workload:
    steps, batch, width = (3, 2, 8) if small else (64, 32, 256)
    inputs = {
        "x": _normal(rng, steps, batch, width),
        "t": _normal(rng, steps, batch, width),
        "h": _zeros(batch, width),
    }
    weights = {"wx": _weight(rng, width, 4 * width), "wh": _weight(rng, width, 4 * width)}

    def run(v: Values, xs: Any, part: Any, sigmoid: Any, tanh: Any) -> list[Any]:
        h = c = v["h"]
        found = []
        for x in xs:
            i, f, g, o = part(x @ v["wx"] + v["b"] + h @ v["wh"])
            c = sigmoid(f) * c + sigmoid(i) * tanh(g)
            h = sigmoid(o) * tanh(c)
            found.append(h)
        return found

    def ours(v: Values) -> Any:
        def part(gates: Any) -> Any:
            return ops.split(gates, (width,) * 4, 1)

        hs = run(v, ops.unstack(v["x"], 0), part, ops.sigmoid, ops.tanh)
        return ops.mean(ops.square(ops.stack(hs, 0) - v["t"]))

    def theirs(v: Values) -> Any:
        def part(gates: Any) -> Any:
            return gates.split(width, 1)

        hs = run(v, v["x"].unbind(0), part, torch.sigmoid, torch.tanh)
        return (torch.stack(hs) - v["t"]).square().mean()

    return Workload(inputs, {**weights, "b": _zeros(4 * width)}, ours, theirs)


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

    def ours(v: Values) -> Any:
        return ops.mean(ops.square(_blocks(v, sizes, _OURS) - v["t"]))

    def theirs(v: Values) -> Any:
        return (_blocks(v, sizes, _THEIRS) - v["t"]).square().mean()

    return Workload(inputs, weights, ours, theirs, "adam", 1e-4)


def _blocks(v: Values, sizes: tuple[int, ...], do: dict[str, Any]) -> Any:
    """Pre-norm transformer blocks with causal attention."""
    layers, batch, length, heads, depth = sizes
    x = v["x"]
    for n in range(layers):
        w = {k.partition(".")[2]: value for k, value in v.items() if k.startswith(f"{n}.")}
        normal = do["norm"](x, w["ga"], w["sa"])
        parts = do["reshape"](normal @ w["wqkv"] + w["bqkv"], (batch, length, 3, heads, depth))
        q, k, values = do["unbind"](do["permute"](parts, (2, 0, 3, 1, 4)))
        y = do["permute"](do["attend"](q, k, values), (0, 2, 1, 3))
        x = x + (do["reshape"](y, (batch, length, heads * depth)) @ w["wo"] + w["bo"])
        hidden = do["gelu"](do["norm"](x, w["gc"], w["sc"]) @ w["wf"] + w["bf"])
        x = x + (hidden @ w["wp"] + w["bp"])
    return x


_OURS: dict[str, Any] = {
    "norm": ops.layer_norm,
    "reshape": ops.reshape,
    "permute": ops.transpose,
    "unbind": lambda x: ops.unstack(x, 0),
    "attend": lambda q, k, v: ops.attention(q, k, v, causal=True),
    "gelu": lambda x: ops.gelu(x, approximate=True),
}
_THEIRS: dict[str, Any] = {
    "norm": lambda x, g, s: functional.layer_norm(x, x.shape[-1:], g, s),
    "reshape": lambda x, shape: x.reshape(shape),
    "permute": lambda x, order: x.permute(order),
    "unbind": lambda x: x.unbind(0),
    "attend": lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    "gelu": lambda x: functional.gelu(x, approximate="tanh"),
}


def _chain(rng: Any, small: bool) -> Workload:
    count = 10 if small else 1000

    def run(v: Values) -> Any:
        x = v["x"]
        for _ in range(count // 2):
            x = x * v["b"] + v["a"]
        return x

    inputs = {"x": _normal(rng, 8), "a": _normal(rng, 8) / 100, "b": _zeros(8) + 0.99}
    return Workload(inputs, {}, run, run, "")


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

    def run(v: Values, conv: Any, norm: Any, relu: Any, mean: Any) -> Any:
        def normal(name: str, x: Any) -> Any:
            return norm(x, v[f"{name}.g"], v[f"{name}.b"])

        x = relu(normal("stem.n", conv(v["x"], v["stem"], 1, 1)))
        for name, stride in blocks:
            y = relu(normal(f"{name}.n1", conv(x, v[f"{name}.c1"], stride, 1)))
            y = normal(f"{name}.n2", conv(y, v[f"{name}.c2"], 1, 1))
            if f"{name}.d" in weights:
                x = normal(f"{name}.nd", conv(x, v[f"{name}.d"], stride, 0))
            x = relu(x + y)
        return mean(x, (2, 3)) @ v["w"] + v["b"]

    def ours(v: Values) -> Any:
        def conv(x: Any, w: Any, stride: int, padding: int) -> Any:
            return ops.conv2d(x, w, stride, padding=padding)

        def norm(x: Any, g: Any, b: Any) -> Any:
            return ops.BatchNorm(1, 1e-5).outputs_of(x, g, b)[0]

        return _cross_entropy(run(v, conv, norm, ops.relu, ops.mean), v["y"])

    def theirs(v: Values) -> Any:
        def conv(x: Any, w: Any, stride: int, padding: int) -> Any:
            return functional.conv2d(x, w, None, stride, padding)

        def norm(x: Any, g: Any, b: Any) -> Any:
            return functional.batch_norm(x, None, None, g, b, True, eps=1e-5)

        return functional.cross_entropy(run(v, conv, norm, torch.relu, torch.mean), v["y"])

    return Workload(inputs, weights, ours, theirs, "sgd", 0.01)


def _rows(rng: Any, small: bool) -> Workload:
    shape = (8, 40) if small else (4096, 4096)
    inputs = {k: _normal(rng, *shape) for k in "abcd"}

    def run(v: Values, gelu: Any, mean: Any) -> Any:
        t = gelu(v["a"] * v["b"] + v["c"]) * v["d"]
        return t - mean(t)

    def ours(v: Values) -> Any:
        return run(v, _OURS["gelu"], lambda t: ops.mean(t, -1, keepdims=True))

    def theirs(v: Values) -> Any:
        return run(v, _THEIRS["gelu"], lambda t: t.mean(-1, keepdim=True))

    return Workload(inputs, {}, ours, theirs, "")


def _norm_softmax(rng: Any, small: bool) -> Workload:
    rows, columns = (8, 40) if small else (4096, 1024)
    inputs = {"x": _normal(rng, rows, columns), "g": _normal(rng, columns), "b": _zeros(columns)}

    def ours(v: Values) -> Any:
        return ops.softmax(ops.layer_norm(v["x"], v["g"], v["b"]), -1)

    def theirs(v: Values) -> Any:
        return _THEIRS["norm"](v["x"], v["g"], v["b"]).softmax(-1)

    return Workload(inputs, {}, ours, theirs, "")


def _products(rng: Any, small: bool) -> Workload:
    count = 5 if small else 200

    def run(v: Values) -> Any:
        x = v["x"]
        for _ in range(count):
            x = x @ v["w"]
        return x

    return Workload({"x": _normal(rng, 1, 8), "w": _weight(rng, 8, 8)}, {}, run, run, "")


def _large_gpt(rng: Any, small: bool) -> Workload:
    return _gpt(rng, small, 1024, 512, 8)


_MAKERS: dict[str, Callable[[Any, bool], Workload]] = {
    **{"w1": _softmax_regression, "w2": _perceptron, "w3": _lenet, "w4": _resnet, "w5": _lstm},
    **{"w6": _gpt, "w6-large": _large_gpt, "w7a": _rows, "w7b": _norm_softmax},
    **{"w8": _chain, "w8m": _products},
}
NAMES = tuple(_MAKERS)


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return ops.mean(ops.softmax_cross_entropy(logits, labels))


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

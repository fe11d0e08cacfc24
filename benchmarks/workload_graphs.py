"""The workloads of the side-by-side benchmark as programs of ours, on any backends.

The harness wants `IMPORT`, `setup(threads)`, and `build(workload, spec, threads)` giving an object
with `step()`, and for training `params()`.  Graphs are built, differentiated, planned and bound
here once; `step` calls the bound program on the workload's own arrays, which the hand-written peers
read without a copy too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

import byparts_graph_ir as ir
import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Backend
from byparts_runtime import Variable, build as build_program

Arrays = dict[str, Any]
NO_NAMES: Mapping[str, int] = MappingProxyType({})
BLOCKS = ((64, 1), (128, 2), (256, 2), (512, 2))  # of ResNet-18: channels, stride of the first


def build(
    workload: str,
    spec: Any,
    backends: Sequence[str | Backend],
    names: Mapping[str, int] = NO_NAMES,
    bound: bool = True,
) -> Any:
    """The program of a workload.  KeyError: not one of ours.

    Args:
        workload: its name.
        spec: its arrays and numbers, of the harness.
        backends: in the order in which they are asked.
        names: inputs, and the dimension of each that is named "n".
        bound: whether steps run on these very arrays; else each call copies its feeds.
    """
    if workload in LOSSES:
        return Training(LOSSES[workload], spec, backends, names, bound)
    return Inference(OUTPUTS[workload], spec, backends, names, bound)


class Training:
    """A step of gradient descent, with momentum or not, or of Adam."""

    def __init__(
        self,
        define: Callable[..., Any],
        spec: Any,
        backends: Any,
        names: Mapping[str, int],
        bound: bool,
    ) -> None:
        self.spec, self.count = spec, np.zeros((), "f4")
        feeds = {k: given(k, v, names.get(k)) for k, v in spec.inputs.items()}
        weights = {k: given(k, v) for k, v in spec.params.items()}
        stats = {k: given(k, v) for k, v in getattr(spec, "stats", {}).items()}
        loss, new_stats = define(feeds, weights, spec.hp, stats)
        dws = gradients(loss, tuple(weights.values()))
        count = given("count", self.count)
        slots, new = optimizer(spec.hp, weights, dws, count)
        old = (*weights.values(), *slots, *stats.values())
        graph = ir.Graph.of((*feeds.values(), count, *old), (loss, *new, *new_stats))
        self.variables = tuple(
            Variable(v.name, {**spec.params, **getattr(spec, "stats", {})}.get(v.name, v.type))
            for v in old
        )
        self.program = build_program(
            graph, backends=backends, variables=self.variables, updates=self.variables
        )
        self.run = runner(self.program, (*spec.inputs.values(), self.count), bound)

    def step(self) -> float:
        """One step; the loss before it."""
        self.count += 1
        return float(self.run()[0])

    def params(self) -> Arrays:
        """The weights."""
        return {v.name: v.read() for v in self.variables if v.name in self.spec.params}

    def info(self) -> dict[str, object]:
        """What the harness prints beside the times."""
        return describe(self.program)


class Inference:
    """A graph without state; the weights are bound like the inputs."""

    def __init__(
        self,
        define: Callable[..., Any],
        spec: Any,
        backends: Any,
        names: Mapping[str, int],
        bound: bool,
    ) -> None:
        arrays = {**spec.inputs, **spec.params, **getattr(spec, "stats", {})}
        values = {k: given(k, v, names.get(k)) for k, v in arrays.items()}
        graph = ir.Graph.of(values.values(), (define(values, spec.hp),))
        self.program = build_program(graph, backends=backends)
        self.run = runner(self.program, tuple(arrays.values()), bound)

    def step(self) -> Any:
        """One run."""
        return self.run()[0]

    def info(self) -> dict[str, object]:
        """What the harness prints beside the times."""
        return describe(self.program)


def describe(program: Any) -> dict[str, object]:
    """Calls and memory of a program."""
    return {"calls": len(program.steps), "arena_MB": round(program.plan.arena_bytes / 1e6, 3)}


def runner(program: Any, feeds: Sequence[Any], bound: bool) -> Callable[[], Any]:
    """A callable of no arguments that runs a program on its feeds."""
    return program.bind(*feeds) if bound else partial(program, *feeds)


def given(name: str, array: Any, named: int | None = None) -> ir.Input:
    """An input of an array's type, one of its dimensions "n" if that is wanted."""
    shape = ["n" if i == named else size for i, size in enumerate(array.shape)]
    return ir.Input(ir.TensorType("f32", tuple(shape)), None, name)


def optimizer(
    hp: Arrays, weights: Arrays, dws: Sequence[Any], count: Any
) -> tuple[list[Any], Sequence[Any]]:
    """The optimizer's own variables, and the new values of the weights and of those."""
    ws, rate = tuple(weights.values()), ops.fill(float(hp["lr"]), "f32")
    slots = [
        [given(f"{s}_{v.name}", np.empty(v.type.dims)) for v in ws]
        for s in {"sgd": "", "mom": "v", "adam": "mv"}[hp["opt"]]
    ]
    if hp["opt"] == "sgd":
        return [], ops.gradient_descent(ws, dws, rate)
    if hp["opt"] == "mom":
        return slots[0], flat(ops.momentum(ws, slots[0], dws, rate, hp["mom"]))
    means, squares = slots
    return [*means, *squares], flat(ops.adam(ws, means, squares, dws, rate, count))


def flat(rows: Any) -> list[Any]:
    """Values in rows, or already in one."""
    return [v for row in rows for v in (row if isinstance(row, (tuple, list)) else (row,))]


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over the batch."""
    return ops.mean(ops.softmax_cross_entropy(logits, labels))


def mean_square(x: Any) -> Any:
    """Of all elements."""
    return ops.mean(ops.square(x))


def w1(i: Arrays, p: Arrays, hp: Arrays, stats: Arrays) -> Any:
    """Softmax regression."""
    return cross_entropy(i["x"] @ p["W"] + p["b"], i["y"]), ()


def w2(i: Arrays, p: Arrays, hp: Arrays, stats: Arrays) -> Any:
    """Three dense layers."""
    hidden = ops.relu(ops.relu(i["x"] @ p["W0"] + p["b0"]) @ p["W1"] + p["b1"])
    return cross_entropy(hidden @ p["W2"] + p["b2"], i["y"]), ()


def w3(i: Arrays, p: Arrays, hp: Arrays, stats: Arrays) -> Any:
    """LeNet."""
    x = i["x"]
    for n in "12":
        bias = ops.expand_dims(p[f"cb{n}"], (1, 2))
        x = ops.max_pool(ops.tanh(ops.conv2d(x, p[f"c{n}"]) + bias), (2, 2), (2, 2))
    hidden = ops.tanh(ops.reshape(x, (-1, 800)) @ p["W1"] + p["b1"])
    return cross_entropy(hidden @ p["W2"] + p["b2"], i["y"]), ()


def w4(i: Arrays, p: Arrays, hp: Arrays, stats: Arrays) -> Any:
    """ResNet-18 of CIFAR, training; also the new running statistics."""
    new: Arrays = {}

    def norm(name: str, x: Any) -> Any:
        gamma, beta = p[f"{name}.g"], p[f"{name}.b"]
        y, mean, variance = ops.BatchNorm(1, hp["eps"]).outputs_of(x, gamma, beta)
        count = x.type.size // x.type.dims[1]
        unbiased = variance * (count / (count - 1))
        new[f"{name}.m"] = stats[f"{name}.m"] * 0.9 + mean * 0.1
        new[f"{name}.v"] = stats[f"{name}.v"] * 0.9 + unbiased * 0.1
        return y

    loss = cross_entropy(resnet(i["x"], p, norm), i["y"])
    return loss, tuple(new[name] for name in stats)


def w4i(i: Arrays, hp: Arrays) -> Any:
    """The same, inference with running statistics."""

    def norm(name: str, x: Any) -> Any:
        gamma, beta, mean, variance = (i[f"{name}.{part}"] for part in "gbmv")
        return ops.BatchNormInference(1, hp["eps"])(x, gamma, beta, mean, variance)

    return resnet(i["x"], i, norm)


def resnet(x: Any, p: Arrays, norm: Callable[[str, Any], Any]) -> Any:
    """ResNet-18 with the stem for small images; logits."""
    x = ops.relu(norm("stem.bn", ops.conv2d(x, p["stem"], padding=1)))
    for s, (_, first) in enumerate(BLOCKS):
        for b, stride in enumerate((first, 1)):
            name, rest = f"s{s}b{b}", x
            y = ops.relu(norm(f"{name}.n1", ops.conv2d(x, p[f"{name}.c1"], stride, padding=1)))
            y = norm(f"{name}.n2", ops.conv2d(y, p[f"{name}.c2"], padding=1))
            if f"{name}.d" in p:
                rest = norm(f"{name}.nd", ops.conv2d(x, p[f"{name}.d"], stride))
            x = ops.relu(y + rest)
    return ops.mean(x, (2, 3)) @ p["fc.W"] + p["fc.b"]


def w5(i: Arrays, p: Arrays, hp: Arrays, stats: Arrays) -> Any:
    """An LSTM, unrolled."""
    xs = ops.split(i["x"], (1,) * hp["T"], 0)
    h = c = ops.fill(0.0, "f32", (i["x"].type.shape[1], hp["H"]))
    hs = []
    for x in xs:
        h, c = lstm(ops.squeeze(x, 0) @ p["Wx"] + p["b"] + h @ p["Wh"], c)
        hs.append(ops.expand_dims(h, 0))
    return mean_square(ops.concat(hs, 0) - i["t"]), ()


def w5s(i: Arrays, p: Arrays, hp: Arrays, stats: Arrays) -> Any:
    """The same as a scan; the inputs of all steps are multiplied at once."""
    zero = ops.fill(0.0, "f32", (i["x"].type.shape[1], hp["H"]))

    def body(h: Any, c: Any, x: Any, w: Any) -> tuple[Any, ...]:
        h, c = lstm(x + h @ w, c)
        return h, c, h

    *_, hs = ops.scan(body, (zero, zero), (i["x"] @ p["Wx"] + p["b"],), (p["Wh"],))
    return mean_square(hs - i["t"]), ()


def lstm(gates: Any, c: Any) -> tuple[Any, Any]:
    """The next state of an LSTM and its cell, from a cell and the four gates beside each other."""
    a, f, g, o = ops.split(gates, 4, 1)
    c = ops.sigmoid(f) * c + ops.sigmoid(a) * ops.tanh(g)
    return ops.sigmoid(o) * ops.tanh(c), c


def w6(i: Arrays, p: Arrays, hp: Arrays, stats: Arrays) -> Any:
    """GPT blocks, training."""
    return mean_square(blocks(i["x"], p, hp) - i["t"]), ()


def w6i(i: Arrays, hp: Arrays) -> Any:
    """The same, forward."""
    return blocks(i["x"], i, hp)


def blocks(x: Any, p: Arrays, hp: Arrays) -> Any:
    """Pre-norm transformer blocks with causal attention."""
    batch, length, width = x.type.shape
    heads = (batch, length, hp["heads"], width // hp["heads"])

    def norm(h: Any, name: str) -> Any:
        return ops.layer_norm(h, p[f"{name}g"], p[f"{name}b"], epsilon=hp["eps"])

    for n in range(hp["L"]):
        w = {k.partition(".")[2]: v for k, v in p.items() if k.startswith(f"l{n}.")}
        parts = ops.split(norm(x, f"l{n}.ln1") @ w["wqkv"] + w["bqkv"], (width,) * 3, -1)
        q, k, v = (ops.transpose(ops.reshape(u, heads), (0, 2, 1, 3)) for u in parts)
        y = ops.transpose(ops.attention(q, k, v, causal=True), (0, 2, 1, 3))
        y = ops.reshape(y, (batch, length, width))
        x = x + (y @ w["wo"] + w["bo"])
        hidden = ops.gelu(norm(x, f"l{n}.ln2") @ w["w1"] + w["b1"], approximate=True)
        x = x + (hidden @ w["w2"] + w["b2"])
    return norm(x, "lnf")


def w7a(i: Arrays, hp: Arrays) -> Any:
    """GELU between elementwise ops, less its mean."""
    t = ops.gelu(i["a"] * i["b"] + i["c"], approximate=True) * i["d"]
    return t - ops.mean(t, -1, keepdims=True)


def w7b(i: Arrays, hp: Arrays) -> Any:
    """Layer norm, softmax."""
    return ops.softmax(ops.layer_norm(i["x"], i["g"], i["b"], epsilon=hp["eps"]), -1)


def w8(i: Arrays, hp: Arrays) -> Any:
    """A chain of tiny elementwise ops."""
    x = i["x"]
    for _ in range(hp["n"] // 2):
        x = x * i["b"] + i["a"]
    return x


def w8m(i: Arrays, hp: Arrays) -> Any:
    """A chain of tiny matmuls."""
    x = i["x"]
    for _ in range(hp["n"]):
        x = x @ i["w"]
    return x


LOSSES: dict[str, Callable[..., Any]] = {
    **{"w1": w1, "w2": w2, "w3": w3},
    **{"w4": w4, "w5": w5, "w5s": w5s, "w6": w6},
}
OUTPUTS: dict[str, Callable[..., Any]] = {
    **{"w4i": w4i, "w6i": w6i, "w7a": w7a},
    **{"w7b": w7b, "w8": w8, "w8m": w8m},
}

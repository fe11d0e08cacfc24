"""The workloads of the side-by-side benchmark, at sizes that a CPU computes in no time.

    steps("w2", backend, 3)     # the loss of each step, and the weights after the last

Graphs are those of `bench/workload_graphs.py`; only the arrays are small.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import byparts_graph_ir as ir
from bench import workload_graphs as graphs
from byparts_autodiff import gradients
from byparts_graph_ir import Backend
from byparts_runtime import Variable, build

Arrays = dict[str, Any]
WIDTHS = (4, 4, 8, 8)  # channels of the stages of w4
NAMES = (*graphs.LOSSES, *graphs.OUTPUTS)


def steps(name: str, backend: Backend, count: int) -> Arrays:
    """What a workload gives: a training program its losses and new weights, else the output."""
    arrays = Draw(name).arrays()
    hp = HYPER[name]
    if name in graphs.OUTPUTS:
        values = {k: graphs.given(k, v) for part in arrays for k, v in part.items()}
        graph = ir.Graph.of(values.values(), (graphs.OUTPUTS[name](values, hp),))
        feeds = [v for part in arrays for v in part.values()]
        return {"output": build(graph, backends=(backend,))(*feeds)[0]}
    program, variables = training(name, arrays, hp, backend)
    losses = []
    for number in range(count):
        feeds = [*arrays[0].values(), np.float32(number + 1)]
        losses.append(program(*map(np.asarray, feeds))[0])
    return {"losses": np.array(losses), **{v.name: v.read() for v in variables}}


def training(
    name: str, arrays: tuple[Arrays, ...], hp: Arrays, backend: Backend
) -> tuple[Any, tuple[Variable, ...]]:
    """The program of a step, and all that it updates."""
    inputs, weights, stats = ({k: graphs.given(k, v) for k, v in part.items()} for part in arrays)
    count = graphs.given("count", np.zeros((), "f4"))
    loss, new_stats = graphs.LOSSES[name](inputs, weights, hp, stats)
    dws = gradients(loss, tuple(weights.values()))
    slots, new = graphs.optimizer(hp, weights, dws, count)
    old = (*weights.values(), *slots, *stats.values())
    begin = {**arrays[1], **arrays[2]}
    variables = tuple(Variable(v.name, begin.get(v.name, v.type), space=backend.space) for v in old)
    graph = ir.Graph.of((*inputs.values(), count, *old), (loss, *new, *new_stats))
    program = build(graph, backends=(backend,), variables=variables, updates=variables)
    return program, variables


_ADAM, _SGD = {"opt": "adam", "lr": 0.01}, {"opt": "sgd", "lr": 0.1}
HYPER: dict[str, Arrays] = {
    "w1": _SGD,
    "w2": _ADAM,
    "w3": {"opt": "mom", "lr": 0.1, "mom": 0.9},
    "w4": {"opt": "mom", "lr": 0.1, "mom": 0.9, "eps": 1e-5},
    "w4i": {"eps": 1e-5},
    "w5": {**_SGD, "T": 3, "H": 8},
    "w5s": {**_SGD, "T": 3, "H": 8},
    "w6": {**_ADAM, "L": 2, "heads": 2, "eps": 1e-5},
    "w6i": {"L": 2, "heads": 2, "eps": 1e-5},
    "w7a": {},
    "w7b": {"eps": 1e-5},
    "w8": {"n": 10},
    "w8m": {"n": 5},
}


class Draw:
    """The arrays of a workload: inputs, weights, running statistics; the same each time."""

    def __init__(self, name: str) -> None:
        self.name, self.random = name, np.random.default_rng(0)

    def arrays(self) -> tuple[Arrays, Arrays, Arrays]:
        """(inputs, weights, statistics)."""
        kind = self.name.rstrip("is") if self.name[:3] != "w8m" else "w8m"
        found: dict[str, Callable[[], Any]] = {
            **{"w1": self._dense, "w2": self._dense, "w3": self._lenet, "w4": self._resnet},
            **{"w5": self._lstm, "w6": self._gpt, "w7a": self._rows, "w7b": self._norm},
            **{"w8": self._chain, "w8m": self._products},
        }
        made: tuple[Arrays, Arrays, Arrays] = found[kind]()
        if self.name[-1] == "i" and self.name != "w5s":  # inference: the labels are not read
            made[0].pop("y", None), made[0].pop("t", None)
        return made

    def _normal(self, *shape: int) -> Any:
        return self.random.standard_normal(shape, np.float32)

    def _weight(self, *shape: int) -> Any:
        inputs = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        return self._normal(*shape) / np.float32(np.sqrt(inputs))

    def _labels(self, batch: int) -> Any:
        return np.eye(10, dtype=np.float32)[self.random.integers(0, 10, batch)]

    def _dense(self) -> Any:
        inputs = {"x": self._normal(6, 20), "y": self._labels(6)}
        if self.name == "w1":
            return inputs, {"W": self._weight(20, 10), "b": np.zeros(10, "f4")}, {}
        sizes = (20, 16, 16, 10)
        weights = {f"W{n}": self._weight(*sizes[n : n + 2]) for n in range(3)}
        return inputs, weights | {f"b{n}": np.zeros(sizes[n + 1], "f4") for n in range(3)}, {}

    def _lenet(self) -> Any:
        inputs = {"x": self._normal(2, 1, 28, 28), "y": self._labels(2)}
        weights = {"c1": self._weight(20, 1, 5, 5), "c2": self._weight(50, 20, 5, 5)}
        weights |= {"W1": self._weight(800, 30), "W2": self._weight(30, 10)}
        zeros = {"cb1": 20, "cb2": 50, "b1": 30, "b2": 10}
        return inputs, weights | {k: np.zeros(n, "f4") for k, n in zeros.items()}, {}

    def _resnet(self) -> Any:
        inputs = {"x": self._normal(2, 3, 8, 8), "y": self._labels(2)}
        weights: Arrays = {"stem": self._weight(WIDTHS[0], 3, 3, 3)}
        norms = {"stem.bn": WIDTHS[0]}
        for name, before, after, stride in _blocks():
            weights |= {f"{name}.c1": self._weight(after, before, 3, 3)}
            weights |= {f"{name}.c2": self._weight(after, after, 3, 3)}
            norms |= {f"{name}.n1": after, f"{name}.n2": after}
            if stride != 1 or before != after:
                weights[f"{name}.d"] = self._weight(after, before, 1, 1)
                norms[f"{name}.nd"] = after
        weights |= {"fc.W": self._weight(WIDTHS[-1], 10), "fc.b": np.zeros(10, "f4")}
        weights |= {f"{k}.g": np.ones(n, "f4") for k, n in norms.items()}
        weights |= {f"{k}.b": np.zeros(n, "f4") for k, n in norms.items()}
        stats = {f"{k}.m": np.zeros(n, "f4") for k, n in norms.items()}
        return inputs, weights, stats | {f"{k}.v": np.ones(n, "f4") for k, n in norms.items()}

    def _lstm(self) -> Any:
        inputs = {k: self._normal(3, 2, 8) for k in "xt"}
        names = {"Wx": (8, 32), "Wh": (8, 32)}
        weights = {k: self._weight(*shape) for k, shape in names.items()}
        return inputs, {**weights, "b": np.zeros(32, "f4")}, {}

    def _gpt(self) -> Any:
        width = 8
        inputs = {k: self._normal(2, 5, width) for k in "xt"}
        weights: Arrays = {}
        for n in range(2):
            for k, rows, columns in (("qkv", 1, 3), ("o", 1, 1), ("1", 1, 4), ("2", 4, 1)):
                weights[f"l{n}.w{k}"] = self._weight(rows * width, columns * width)
                weights[f"l{n}.b{k}"] = np.zeros(columns * width, "f4")
        for k in ("l0.ln1", "l0.ln2", "l1.ln1", "l1.ln2", "lnf"):
            weights |= {f"{k}g": np.ones(width, "f4"), f"{k}b": np.zeros(width, "f4")}
        return inputs, weights, {}

    def _rows(self) -> Any:
        return {k: self._normal(6, 40) for k in "abcd"}, {}, {}

    def _norm(self) -> Any:
        return {"x": self._normal(6, 40), "g": self._normal(40), "b": self._normal(40)}, {}, {}

    def _chain(self) -> Any:
        return {"x": self._normal(8), "a": self._normal(8), "b": self._normal(8)}, {}, {}

    def _products(self) -> Any:
        return {"x": self._normal(8, 8), "w": self._weight(8, 8)}, {}, {}


def _blocks() -> Iterator[tuple[str, int, int, int]]:
    """(name, channels before, channels after, stride) of the blocks of w4."""
    before = WIDTHS[0]
    for s, (_, first) in enumerate(graphs.BLOCKS):
        for b, stride in enumerate((first, 1)):
            yield f"s{s}b{b}", before, WIDTHS[s], stride
            before = WIDTHS[s]

"""The workloads of the side-by-side benchmark, as they are or at sizes that take no time.

    steps("w2", backend, 3)     # small: the loss of each step, and the weights after the last

Graphs are those of `workload_graphs.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import byparts_graph_ir as ir
from byparts_autodiff import gradients
from byparts_graph_ir import Backend
from byparts_runtime import Variable, build

Arrays = dict[str, Any]
graphs: Any = import_module("workload_graphs")
NAMES = (*graphs.LOSSES, *graphs.OUTPUTS)


def steps(name: str, backend: Backend, count: int) -> Arrays:
    """What a workload gives: a training program its losses and new weights, else the output."""
    arrays = Draw(name).arrays()
    hp = HYPER[name]
    if name in graphs.OUTPUTS:
        feeds = [v for part in arrays for v in part.values()]
        return {"output": build(inference(name, arrays, hp), backends=(backend,))(*feeds)[0]}
    graph, begin = training(name, arrays, hp)
    made = begin.items()
    variables = tuple(Variable(name, value, space=backend.space) for name, value in made)
    program = build(graph, backends=(backend,), variables=variables, updates=variables)
    losses = []
    for number in range(count):
        feeds = [*arrays[0].values(), np.float32(number + 1)]
        losses.append(program(*map(np.asarray, feeds))[0])
    return {"losses": np.array(losses), **{v.name: v.read() for v in variables}}


def inference(name: str, arrays: tuple[Arrays, ...], hp: Arrays) -> ir.Graph:
    """The graph of all arrays that gives the output."""
    values = {k: graphs.given(k, v) for part in arrays for k, v in part.items()}
    return ir.Graph.of(values.values(), (graphs.OUTPUTS[name](values, hp),))


def training(name: str, arrays: tuple[Arrays, ...], hp: Arrays) -> tuple[ir.Graph, Arrays]:
    """The graph of a step, and what it updates: by name what it begins with, or its type."""
    inputs, weights, stats = ({k: graphs.given(k, v) for k, v in part.items()} for part in arrays)
    count = graphs.given("count", np.zeros((), "f4"))
    loss, new_stats = graphs.LOSSES[name](inputs, weights, hp, stats)
    dws = gradients(loss, tuple(weights.values()))
    slots, new = graphs.optimizer(hp, weights, dws, count)
    old = (*weights.values(), *slots, *stats.values())
    known = {**arrays[1], **arrays[2]}
    graph = ir.Graph.of((*inputs.values(), count, *old), (loss, *new, *new_stats))
    return graph, {v.name: known.get(v.name, v.type) for v in old}


_ADAM, _SGD = {"opt": "adam", "lr": 0.01}, {"opt": "sgd", "lr": 0.1}
HYPER: dict[str, Arrays] = {
    "w1": _SGD,
    "w2": _ADAM,
    "w3": {"opt": "mom", "lr": 0.1, "mom": 0.9},
    "w4": {"opt": "mom", "lr": 0.01, "mom": 0.9, "eps": 1e-5},
    "w4i": {"eps": 1e-5},
    "w5": {**_SGD, "T": 3, "H": 8},
    "w5s": {**_SGD, "T": 3, "H": 8},
    # Adam makes steps of one size also along the bias of the keys, whose gradient is 0 but for
    # rounding: no two backends would agree.
    "w6": {**_SGD, "L": 2, "heads": 2, "eps": 1e-5},
    "w6i": {"L": 2, "heads": 2, "eps": 1e-5},
    "w7a": {},
    "w7b": {"eps": 1e-5},
    "w8": {"n": 10},
    "w8m": {"n": 5},
}
FULL: dict[str, Arrays] = {  # where they differ
    **{name: {"T": 64, "H": 256} for name in ("w5", "w5s")},
    **{name: {"L": 4, "heads": 4, **_ADAM} for name in ("w6", "w6i")},
    "w8": {"n": 1000},
    "w8m": {"n": 200},
}


class Sizes(NamedTuple):
    """Extents of the arrays."""

    batch: int = 6
    dense: tuple[int, ...] = (20, 16, 16, 10)
    lenet: tuple[int, int] = (2, 30)  # batch, hidden
    resnet: tuple[int, int] = (4, 16)  # batch, rows of an image
    widths: tuple[int, ...] = (4, 4, 8, 8)  # channels of the stages
    lstm: tuple[int, int, int] = (3, 2, 8)  # steps, batch, hidden
    gpt: tuple[int, int, int] = (2, 5, 8)  # batch, length, width
    layers: int = 2
    rows: tuple[int, int] = (6, 40)
    norm: tuple[int, int] = (6, 40)
    row: int = 8  # rows of a tiny product


SMALL = Sizes()
LARGE = Sizes(
    batch=128,
    dense=(784, 256, 256, 10),
    lenet=(100, 500),
    resnet=(32, 32),
    widths=(64, 128, 256, 512),
    lstm=(64, 32, 256),
    gpt=(8, 128, 256),
    layers=4,
    rows=(4096, 4096),
    norm=(4096, 1024),
    row=1,
)


class Draw:
    """The arrays of a workload: inputs, weights, running statistics; the same each time.

    Args:
        name: of the workload.
        sizes: of its arrays.
        blank: whether they are all zeros that take no memory, for their shapes.
    """

    def __init__(self, name: str, sizes: Sizes = SMALL, *, blank: bool = False) -> None:
        self.name, self.sizes, self.blank = name, sizes, blank
        self.random = np.random.default_rng(0)

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
        if self.blank:
            return np.broadcast_to(np.float32(0), shape)
        return self.random.standard_normal(shape, np.float32)

    def _weight(self, *shape: int) -> Any:
        inputs = np.prod(shape[1:]) if len(shape) == 4 else shape[0]
        return self._normal(*shape) / np.float32(np.sqrt(inputs))

    def _labels(self, batch: int) -> Any:
        return np.eye(10, dtype=np.float32)[self.random.integers(0, 10, batch)]

    def _dense(self) -> Any:
        batch, sizes = self.sizes.batch, self.sizes.dense
        inputs = {"x": self._normal(batch, sizes[0]), "y": self._labels(batch)}
        if self.name == "w1":
            return inputs, {"W": self._weight(sizes[0], 10), "b": np.zeros(10, "f4")}, {}
        weights = {f"W{n}": self._weight(*sizes[n : n + 2]) for n in range(3)}
        return inputs, weights | {f"b{n}": np.zeros(sizes[n + 1], "f4") for n in range(3)}, {}

    def _lenet(self) -> Any:
        batch, hidden = self.sizes.lenet
        inputs = {"x": self._normal(batch, 1, 28, 28), "y": self._labels(batch)}
        weights = {"c1": self._weight(20, 1, 5, 5), "c2": self._weight(50, 20, 5, 5)}
        weights |= {"W1": self._weight(800, hidden), "W2": self._weight(hidden, 10)}
        zeros = {"cb1": 20, "cb2": 50, "b1": hidden, "b2": 10}
        return inputs, weights | {k: np.zeros(n, "f4") for k, n in zeros.items()}, {}

    def _resnet(self) -> Any:
        (batch, rows), widths = self.sizes.resnet, self.sizes.widths
        inputs = {"x": self._normal(batch, 3, rows, rows), "y": self._labels(batch)}
        weights: Arrays = {"stem": self._weight(widths[0], 3, 3, 3)}
        norms = {"stem.bn": widths[0]}
        for name, before, after, stride in _blocks(widths):
            weights |= {f"{name}.c1": self._weight(after, before, 3, 3)}
            weights |= {f"{name}.c2": self._weight(after, after, 3, 3)}
            norms |= {f"{name}.n1": after, f"{name}.n2": after}
            if stride != 1 or before != after:
                weights[f"{name}.d"] = self._weight(after, before, 1, 1)
                norms[f"{name}.nd"] = after
        weights |= {"fc.W": self._weight(widths[-1], 10), "fc.b": np.zeros(10, "f4")}
        weights |= {f"{k}.g": np.ones(n, "f4") for k, n in norms.items()}
        weights |= {f"{k}.b": np.zeros(n, "f4") for k, n in norms.items()}
        stats = {f"{k}.m": np.zeros(n, "f4") for k, n in norms.items()}
        return inputs, weights, stats | {f"{k}.v": np.ones(n, "f4") for k, n in norms.items()}

    def _lstm(self) -> Any:
        steps, batch, hidden = self.sizes.lstm
        inputs = {k: self._normal(steps, batch, hidden) for k in "xt"}
        weights = {k: self._weight(hidden, 4 * hidden) for k in ("Wx", "Wh")}
        return inputs, {**weights, "b": np.zeros(4 * hidden, "f4")}, {}

    def _gpt(self) -> Any:
        *_, width = self.sizes.gpt
        inputs = {k: self._normal(*self.sizes.gpt) for k in "xt"}
        weights: Arrays = {}
        for n in range(self.sizes.layers):
            for k, rows, columns in (("qkv", 1, 3), ("o", 1, 1), ("1", 1, 4), ("2", 4, 1)):
                weights[f"l{n}.w{k}"] = self._weight(rows * width, columns * width)
                weights[f"l{n}.b{k}"] = np.zeros(columns * width, "f4")
        for k in (*[f"l{n}.ln{i}" for n in range(self.sizes.layers) for i in (1, 2)], "lnf"):
            weights |= {f"{k}g": np.ones(width, "f4"), f"{k}b": np.zeros(width, "f4")}
        return inputs, weights, {}

    def _rows(self) -> Any:
        return {k: self._normal(*self.sizes.rows) for k in "abcd"}, {}, {}

    def _norm(self) -> Any:
        rows, columns = self.sizes.norm
        x = {"x": self._normal(rows, columns)}
        return x | {k: self._normal(columns) for k in "gb"}, {}, {}

    def _chain(self) -> Any:
        return {"x": self._normal(8), "a": self._normal(8), "b": self._normal(8)}, {}, {}

    def _products(self) -> Any:
        return {"x": self._normal(self.sizes.row, 8), "w": self._weight(8, 8)}, {}, {}


def _blocks(widths: tuple[int, ...]) -> Iterator[tuple[str, int, int, int]]:
    """(name, channels before, channels after, stride) of the blocks of w4."""
    before = widths[0]
    for s, (_, first) in enumerate(graphs.BLOCKS):
        for b, stride in enumerate((first, 1)):
            yield f"s{s}b{b}", before, widths[s], stride
            before = widths[s]

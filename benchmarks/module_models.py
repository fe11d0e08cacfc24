"""The workloads W1 to W6 written with layers and optimizers of byparts-nn, as a user would.

Beside `workload_graphs.py`, which builds the same steps as graphs by hand.  Peers of the harness
are `byparts_layers.py` (compiled) and `byparts_eager_steps.py` (each op at once).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import byparts_opset as ops
from byparts_eager import asarray, compile as compiled, value_and_grad
from byparts_nn import (
    LSTM,
    SGD,
    Adam,
    BatchNorm,
    Conv2d,
    Flatten,
    LayerNorm,
    Linear,
    MaxPool2d,
    Module,
    Sequential,
    TransformerBlock,
    mse,
)
from workload_graphs import BLOCKS, cross_entropy


def tanh_gelu(x: Any) -> Any:
    """GELU by tanh, as the workloads have it."""
    return ops.gelu(x, approximate=True)


class Block(Module):
    """A block of ResNet-18."""

    def __init__(self, inputs: int, channels: int, stride: int) -> None:
        self.conv1 = Conv2d(inputs, channels, 3, stride=stride, padding=1, bias=False)
        self.conv2 = Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1, self.norm2 = BatchNorm(channels), BatchNorm(channels)
        self.short = None
        if stride != 1 or inputs != channels:
            short = Conv2d(inputs, channels, 1, stride=stride, bias=False)
            self.short = Sequential(short, BatchNorm(channels))

    def __call__(self, x: Any) -> Any:
        y = self.norm2(self.conv2(ops.relu(self.norm1(self.conv1(x)))))
        return ops.relu(y + (x if self.short is None else self.short(x)))


def resnet() -> Module:
    """ResNet-18 with the stem for small images."""
    layers: list[Any] = [Conv2d(3, 64, 3, padding=1, bias=False), BatchNorm(64), ops.relu]
    inputs = 64
    for channels, first in BLOCKS:
        for stride in (first, 1):
            layers.append(Block(inputs, channels, stride))
            inputs = channels
    return Sequential(*layers, lambda x: ops.mean(x, (2, 3)), Linear(512, 10))


def lenet() -> Module:
    """LeNet of the workloads."""
    pool = MaxPool2d(2)
    first = (Conv2d(1, 20, 5), ops.tanh, pool, Conv2d(20, 50, 5), ops.tanh, pool)
    return Sequential(*first, Flatten(), Linear(800, 500), ops.tanh, Linear(500, 10))


class Recurrent(Module):
    """The LSTM, on sequences with time first."""

    def __init__(self) -> None:
        self.lstm = LSTM(256, 256)

    def __call__(self, x: Any) -> Any:
        return ops.transpose(self.lstm(ops.transpose(x, (1, 0, 2))), (1, 0, 2))


def gpt() -> Module:
    """Four blocks of a language model."""
    how: dict[str, Any] = {"activation": tanh_gelu, "causal": True}
    return Sequential(*[TransformerBlock(256, 4, **how) for _ in range(4)], LayerNorm(256))


def mlp() -> Module:
    """Three dense layers."""
    return Sequential(Linear(784, 256), ops.relu, Linear(256, 256), ops.relu, Linear(256, 10))


# What of a workload's names stands where: a path of the model -> the name there.
def _names_of_resnet() -> dict[str, str]:
    names = {"layers.0.weight": "stem", **_norm("layers.1", "stem.bn")}
    for i in range(8):
        there, here = f"s{i // 2}b{i % 2}", f"layers.{3 + i}"
        names |= {f"{here}.conv1.weight": f"{there}.c1", f"{here}.conv2.weight": f"{there}.c2"}
        names |= {**_norm(f"{here}.norm1", f"{there}.n1"), **_norm(f"{here}.norm2", f"{there}.n2")}
        names |= {f"{here}.short.layers.0.weight": f"{there}.d"}
        names |= _norm(f"{here}.short.layers.1", f"{there}.nd")
    return names | {"layers.12.weight": "fc.W", "layers.12.bias": "fc.b"}


def _norm(here: str, there: str) -> dict[str, str]:
    names = {"weight": "g", "bias": "b", "running_mean": "m", "running_var": "v"}
    return {f"{here}.{a}": f"{there}.{b}" for a, b in names.items()}


def _names_of_gpt() -> dict[str, str]:
    names = {"layers.4.weight": "lnfg", "layers.4.bias": "lnfb"}
    inside = {
        **{"attend.weight": "wqkv", "attend.bias": "bqkv", "attend.out.weight": "wo"},
        **{"attend.out.bias": "bo", "attend_norm.weight": "ln1g", "attend_norm.bias": "ln1b"},
        **{"up.weight": "w1", "up.bias": "b1", "down.weight": "w2", "down.bias": "b2"},
        **{"norm.weight": "ln2g", "norm.bias": "ln2b"},
    }
    return names | {f"layers.{n}.{a}": f"l{n}.{b}" for n in range(4) for a, b in inside.items()}


def _dense(*layers: tuple[int, str, str]) -> dict[str, str]:
    pairs = [((f"layers.{i}.weight", w), (f"layers.{i}.bias", b)) for i, w, b in layers]
    return {here: there for pair in pairs for here, there in pair}


MODELS: dict[str, tuple[Callable[[], Module], Mapping[str, str], Callable[..., Any]]] = {
    "w1": (lambda: Sequential(Linear(784, 10)), _dense((0, "W", "b")), cross_entropy),
    "w2": (mlp, _dense((0, "W0", "b0"), (2, "W1", "b1"), (4, "W2", "b2")), cross_entropy),
    "w3": (
        lenet,
        _dense((0, "c1", "cb1"), (3, "c2", "cb2"), (7, "W1", "b1"), (9, "W2", "b2")),
        cross_entropy,
    ),
    "w4": (resnet, _names_of_resnet(), cross_entropy),
    "w5s": (
        Recurrent,
        {"lstm.weight_input": "Wx", "lstm.weight_hidden": "Wh", "lstm.bias": "b"},
        mse,
    ),
    "w6": (gpt, _names_of_gpt(), mse),
}


def optimizer_of(hp: Mapping[str, Any]) -> Any:
    """The optimizer that a workload asks for."""
    if hp["opt"] == "adam":
        return Adam(hp["lr"])
    return SGD(hp["lr"], momentum=hp.get("mom", 0.0))


class Training:
    """A step of a workload, with layers.

    Args:
        workload: its name.
        spec: its arrays and numbers, of the harness.
        options: of `compile`; `None`: every op of a step runs at once.
    """

    def __init__(self, workload: str, spec: Any, options: Mapping[str, Any] | None) -> None:
        make, names, loss_of = MODELS[workload]
        self.model, self.optimizer = make(), optimizer_of(spec.hp)
        self.names = {k: v for k, v in names.items() if k in self.model.cells()}
        arrays = {**spec.params, **getattr(spec, "stats", {})}
        for path, name in self.names.items():
            cell = self.model.cells()[path]
            cell.value = arrays[name].reshape(cell.type.dims)
        self.spec, (x, target) = spec, spec.inputs.values()
        self.feeds = x, target
        if options is None:
            self.feeds = asarray(x), asarray(target)

        def step(x: Any, target: Any) -> Any:
            def loss_on(model: Any) -> Any:
                return loss_of(model(x), target)

            loss, gradients = value_and_grad(loss_on)(self.model)
            self.optimizer.update(gradients)
            return loss

        self.run: Any = step if options is None else compiled(step, **options)

    def step(self) -> float:
        """One step; the loss before it."""
        return float(self.run(*self.feeds))

    def params(self) -> dict[str, Any]:
        """The weights, by their names in the workload."""
        cells = self.model.cells().items()
        named = {self.names[k]: cell.value.numpy() for k, cell in cells if k in self.names}
        return {k: named[k].reshape(v.shape) for k, v in self.spec.params.items()}

    def info(self) -> dict[str, object]:
        """Describe the program, for the harness."""
        programs = getattr(self.run, "programs", ())
        if not programs:
            return {}
        program = programs[0]
        arena_mb = round(program.plan.arena_bytes / 1e6, 3)
        return {"calls": len(program.steps), "arena_MB": arena_mb}

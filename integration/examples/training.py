"""What the examples of training share: digits, a network, Adam with a schedule, their variables.

The page docs/train-with-graphs.md builds the same in small steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_runtime import Program, Store, build

Array = NDArray[Any]
Values = Mapping[str, Value]
BATCH, TESTS = 100, 300
BATCHES = 14  # of an epoch


def digits() -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """1497 images [n, 64] in [-0.5, 0.5] with labels to train on, 300 to test."""
    with np.load(str(files("byparts_tinyflow") / "data" / "digits.npz")) as file:
        images = file["images"].reshape(-1, 64).astype("float32") / 16 - 0.5
        labels = file["labels"].astype("int64")
    test, train = np.split(np.random.default_rng(0).permutation(len(images)), [TESTS])
    return (images[train], labels[train]), (images[test], labels[test])


def batches(epoch: int) -> Iterator[tuple[Array, Array]]:
    """All full batches, in an order that the number of the epoch decides."""
    images, labels = digits()[0]
    order = np.random.default_rng(epoch).permutation(len(images))
    for at in range(0, BATCHES * BATCH, BATCH):
        yield images[order[at : at + BATCH]], labels[order[at : at + BATCH]]


def variable(store: Store, name: str, value: object) -> Input:
    """A new variable, and the input that stands for its value in graphs."""
    return Input(store.create(name, np.asarray(value)).type, name=name)


def parameters(store: Store, seed: int = 0) -> dict[str, Input]:
    """The weights of a network with one hidden layer of 64."""
    random = np.random.default_rng(seed)
    shapes = {"w1": (64, 64), "b1": (64,), "w2": (64, 10), "b2": (10,)}
    return {
        name: variable(store, name, random.normal(0, 0.1, shape).astype("float32"))
        for name, shape in shapes.items()
    }


def schedule(step: Value, peak: float = 0.01, warm_up: int = 20, steps: int = 140) -> Value:
    """The rate rises for `warm_up` steps and falls along a cosine.  step: i64[], from 1 on."""
    at = ops.cast(step, "f32")
    rise = ops.minimum(at / warm_up, 1.0)
    fall = ops.cos(ops.clip((at - warm_up) / (steps - warm_up), 0.0, 1.0) * np.pi) * 0.5 + 0.5
    return rise * fall * peak


def with_adam(
    store: Store, loss: Value, weights: Sequence[Input]
) -> tuple[list[Input], list[Value]]:
    """What a step remembers, and the new values; the last of each is the number of the step."""
    zeros = {w.name: np.zeros(w.type.dims, "float32") for w in weights}
    means = [variable(store, f"{name}/mean", zero) for name, zero in zeros.items()]
    squares = [variable(store, f"{name}/square", zero) for name, zero in zeros.items()]
    step = variable(store, "step", np.int64(0))
    now = step + 1
    dws, rate = gradients(loss, weights), schedule(now)
    ws, ms, ss = ops.adam(weights, means, squares, dws, rate, ops.cast(now, "f32"))
    return [*weights, *means, *squares, step], [*ws, *ms, *ss, now]


def program(
    store: Store,
    feeds: Sequence[Value],
    fetches: Sequence[Value],
    old: Sequence[Input],
    new: Sequence[Value],
) -> Program:
    """A step: the variables `old` take the values `new`."""
    graph = Graph.of([*feeds, *old], [*fetches, *new])
    return build(graph, variables=store, updates=[store[v.name] for v in old])


def feeds() -> tuple[Input, Input]:
    """A batch of images and their labels."""
    images = Input(TensorType("f32", (BATCH, 64)), name="images")
    return images, Input(TensorType("i64", (BATCH,)), name="labels")


def loss_of(logits: Value, labels: Value) -> Value:
    """The mean cross-entropy."""
    return ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))


def dense(x: Value, v: Values) -> Value:
    """The network without anything else."""
    return ops.relu(x @ v["w1"] + v["b1"]) @ v["w2"] + v["b2"]


def classifier(store: Store, logits: Value, tests: Input, values: Sequence[Input]) -> Program:
    """It gives the classes of the test images; its variables are those of the store."""
    return build(Graph.of([tests, *values], [ops.argmax(logits, 1)]), variables=store)


def unseen_images() -> Input:
    """All of them."""
    return Input(TensorType("f32", (TESTS, 64)), name="images")


def accuracy(classify: Program) -> float:
    """On images that it has not been trained on."""
    images, labels = digits()[1]
    return float(np.mean(classify(images)[0] == labels))


class Model:
    """Batch norm and dropout, for training and for evaluation, on the variables of one store."""

    def __init__(self, store: Store, rate: float = 0.2) -> None:
        trained = parameters(store)
        trained["gamma"] = variable(store, "gamma", np.ones(64, "float32"))
        trained["beta"] = variable(store, "beta", np.zeros(64, "float32"))
        follow = {
            "mean": variable(store, "mean", np.zeros(64, "float32")),
            "variance": variable(store, "variance", np.ones(64, "float32")),
            "counter": variable(store, "counter", np.int64(0)),
        }
        self.values, self.rate = trained | follow, rate
        x, labels = feeds()
        logits, followed = self._training(x)
        loss = loss_of(logits, labels)
        old, new = with_adam(store, loss, list(trained.values()))
        self.train = program(
            store, [x, labels], [loss], [*old, *follow.values()], [*new, *followed]
        )
        tests = unseen_images()
        read = [v for v in self.values.values() if v is not follow["counter"]]
        self.classify = classifier(store, self._evaluation(tests), tests, read)

    def _training(self, x: Value) -> tuple[Value, list[Value]]:
        """The logits, and the new values of what follows: statistics and counter."""
        v = self.values
        y, mean, variance = ops.batch_norm(x @ v["w1"] + v["b1"], v["gamma"], v["beta"])
        y = ops.relu(y)
        counter = ops.next_counter(v["counter"], y)
        y = ops.dropout(y, 7, v["counter"], self.rate)
        mean = ops.moving_average(v["mean"], mean, 0.9)
        variance = ops.moving_average(v["variance"], variance, 0.9)
        return y @ v["w2"] + v["b2"], [mean, variance, counter]

    def _evaluation(self, x: Value) -> Value:
        v = self.values
        y = x @ v["w1"] + v["b1"]
        y = ops.batch_norm_inference(y, v["gamma"], v["beta"], v["mean"], v["variance"])
        return ops.relu(y) @ v["w2"] + v["b2"]


def run(model: Model, store: Store, steps: int) -> None:
    """Train until the store's number of the step is `steps`, from wherever it stands."""
    while (done := int(store["step"])) < steps:
        epoch, skip = divmod(done, BATCHES)
        for k, batch in enumerate(batches(epoch)):
            if skip <= k < skip + steps - done:
                (loss,) = model.train(*batch)
        print(f"step {int(store['step']):3}: loss {loss:.4f}")

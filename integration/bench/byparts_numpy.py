"""The peer `byparts_numpy` of the side-by-side benchmark: W1, W2, W8, W8m, W7 on NumPy kernels.

The harness wants `IMPORT`, `setup(threads)`, and `build(workload, spec, threads)` giving an object
with `step()`, and for training `params()`.  Graphs are built, differentiated, planned and bound
here once; `step` calls the bound program on the workload's own arrays, which the hand-written peer
reads without a copy too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `setup` imports at run time, when the harness has set the environment
    import numpy as np

    import byparts_graph_ir as ir
    import byparts_opset as ops
    from byparts_autodiff import gradients
    from byparts_runtime import Variable
    from byparts_runtime import build as build_program

IMPORT = "import byparts_runtime, byparts_opset"

Arrays = dict[str, Any]


def setup(threads: int) -> str:
    """Import; NumPy's BLAS takes its threads from the environment that the harness sets."""
    global ops, ir, np, Variable, build_program, gradients
    import numpy as np

    import byparts_graph_ir as ir
    import byparts_opset as ops
    from byparts_autodiff import gradients
    from byparts_runtime import Variable
    from byparts_runtime import build as build_program

    return ops.__version__


def build(workload: str, spec: Any, threads: int) -> Any:
    """The program of a workload.  KeyError: not one of ours."""
    if workload in LOSSES:
        return Training(LOSSES[workload], spec)
    return Inference({"w7a": w7a, "w7b": w7b, "w8": w8, "w8m": w8m}[workload], spec)


class Training:
    """A step of gradient descent or Adam."""

    def __init__(self, define: Any, spec: Any) -> None:
        self.spec, self.count = spec, 0
        x, y = given("x", spec.inputs["x"]), given("y", spec.inputs["y"])
        weights = {k: given(k, v) for k, v in spec.params.items()}
        loss = define(x, y, weights)
        dws = gradients(loss, tuple(weights.values()))
        self.variables = {k: Variable(k, v) for k, v in spec.params.items()}
        if spec.hp["opt"] == "sgd":
            self._descend(loss, x, y, weights, dws)
        else:
            self._adam(loss, x, y, weights, dws)

    def _descend(self, loss: Any, x: Any, y: Any, weights: Arrays, dws: Any) -> None:
        rate = float(self.spec.hp["lr"])
        new = [w - dw * rate for w, dw in zip(weights.values(), dws, strict=True)]
        graph = ir.Graph.of((x, y, *weights.values()), (loss, *new))
        memory = tuple(self.variables.values())
        program = build_program(graph, variables=memory, updates=memory)
        self.run = program.bind(self.spec.inputs["x"], self.spec.inputs["y"])

    def _adam(self, loss: Any, x: Any, y: Any, weights: Arrays, dws: Any) -> None:
        size, root = given("size", np.zeros((), "f4")), given("root", np.zeros((), "f4"))
        slots, new = [], []
        for (k, w), dw in zip(weights.items(), dws, strict=True):
            m, v = given(f"m_{k}", self.spec.params[k]), given(f"v_{k}", self.spec.params[k])
            m2, v2 = m * 0.9 + dw * 0.1, v * 0.999 + dw * dw * 0.001
            new += [w - m2 * size / (ops.sqrt(v2) * root + 1e-8), m2, v2]
            slots += [w, m, v]
        graph = ir.Graph.of((x, y, size, root, *slots), (loss, *new))
        memory = []
        for k, w in weights.items():
            memory += [self.variables[k], Variable(f"m_{k}", w.type), Variable(f"v_{k}", w.type)]
        program = build_program(graph, variables=memory, updates=memory)
        self.size, self.root = np.zeros((), "f4"), np.zeros((), "f4")
        inputs = self.spec.inputs
        self.run = program.bind(inputs["x"], inputs["y"], self.size, self.root)

    def step(self) -> float:
        """One step; the loss before it."""
        if self.spec.hp["opt"] == "adam":
            self.count += 1
            self.size[...] = self.spec.hp["lr"] / (1 - 0.9**self.count)
            self.root[...] = (1 - 0.999**self.count) ** -0.5
        return float(self.run()[0])

    def params(self) -> Arrays:
        """The weights."""
        return {k: v.read() for k, v in self.variables.items()}


class Inference:
    """A graph without state."""

    def __init__(self, define: Any, spec: Any) -> None:
        values = {k: given(k, v) for k, v in spec.inputs.items()}
        graph = ir.Graph.of(values.values(), (define(values, spec.hp),))
        self.run = build_program(graph).bind(*spec.inputs.values())

    def step(self) -> Any:
        """One run."""
        return self.run()[0]


def given(name: str, array: Any) -> Any:
    """An input of an array's type."""
    return ir.Input(ir.TensorType("f32", array.shape), None, name)


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The mean over the batch."""
    return ops.mean(ops.softmax_cross_entropy(logits, labels))


def w1(x: Any, y: Any, p: Arrays) -> Any:
    """Softmax regression."""
    return cross_entropy(x @ p["W"] + p["b"], y)


def w2(x: Any, y: Any, p: Arrays) -> Any:
    """Three dense layers."""
    hidden = ops.relu(ops.relu(x @ p["W0"] + p["b0"]) @ p["W1"] + p["b1"])
    return cross_entropy(hidden @ p["W2"] + p["b2"], y)


def w3(x: Any, y: Any, p: Arrays) -> Any:
    """LeNet."""
    for i in "12":
        bias = ops.expand_dims(p[f"cb{i}"], (1, 2))
        x = ops.max_pool(ops.tanh(ops.conv2d(x, p[f"c{i}"]) + bias), (2, 2), (2, 2))
    hidden = ops.tanh(ops.reshape(x, (-1, 800)) @ p["W1"] + p["b1"])
    return cross_entropy(hidden @ p["W2"] + p["b2"], y)


LOSSES = {"w1": w1, "w2": w2, "w3": w3}


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

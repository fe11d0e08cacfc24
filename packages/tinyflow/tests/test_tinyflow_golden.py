"""What the real NNVM and TinyFlow computed for TinyFlow's programs: names, shapes, memory.

Golden numbers: variables in the order of `infer_variable_shapes`, and the bytes of NNVM's memory
plan for the graph of [loss, train step] at batch 100, feeds and fetches counted, variables not.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import pytest

import byparts_tinyflow as tf
from byparts_frontend_tf.running.pure import pure_graph
from byparts_memplan import check_plan
from byparts_runtime import Executor, Program, Variable as Stored

Shapes = dict[tf.Symbol, list[int]]


@dataclass(frozen=True)
class Training:
    """A loss, the shapes it is fed, and its optimizer."""

    loss: tf.Symbol
    feeds: Shapes
    optimizer: Any

    def variables(self) -> dict[tf.Variable, list[int]]:
        """In the order in which they are found."""
        return {v: shape for v, _, shape in tf.infer_variable_shapes(self.loss, self.feeds)}

    def program(self) -> Program:
        """One step: the loss, and all updates."""
        train = self.optimizer.minimize(self.loss)
        with tf.Session() as session:
            begin = [tf.assign(v, tf.zeros(shape)) for v, shape in self.variables().items()]
            session.run(begin)
            session.run(tf.initialize_all_variables())  # of the optimizer, in these shapes
            step = pure_graph(session, [self.loss, train], self.feeds)
        read = step.graph.inputs[len(step.fed) :]
        memory = {v: Stored(v.name, x.type) for v, x in zip(step.variables, read, strict=True)}
        bound = dict(zip(read, memory.values(), strict=True))
        updates = [memory[v] for v in step.updates]
        return Executor(backends=("numpy",)).program(step.graph, variables=bound, updates=updates)


def softmax() -> Training:
    x, labels = tf.placeholder(tf.float32, [None, 784]), tf.placeholder(tf.float32, [None, 10])
    y = tf.nn.softmax(tf.matmul(x, tf.Variable(tf.zeros([784, 10]))))
    loss = tf.reduce_mean(-tf.reduce_sum(labels * tf.log(y), reduction_indices=[1]))
    return Training(
        loss, {x: [100, 784], labels: [100, 10]}, tf.train.GradientDescentOptimizer(0.5)
    )


def mlp() -> Training:
    x, label = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    hidden = tf.nn.relu(tf.nn.linear(x, num_hidden=100, name="fc1", no_bias=False))
    loss = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(
        tf.nn.linear(hidden, num_hidden=10, name="fc2"), label
    )
    return Training(loss, {x: [100, 784], label: [100]}, tf.train.GradientDescentOptimizer(0.5))


def lenet() -> Training:
    x, label = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    net: tf.Symbol = x
    for i, filters in ((1, 20), (2, 50)):
        net = tf.nn.conv2d(
            net, num_filter=filters, ksize=[1, 5, 5, 1], name=f"conv{i}", no_bias=False
        )
        net = tf.nn.max_pool(tf.tanh(net), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1])
    hidden = tf.tanh(tf.nn.linear(tf.nn.flatten_layer(net), num_hidden=500, name="fc1"))
    loss = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(
        tf.nn.linear(hidden, num_hidden=10, name="fc2"), label
    )
    return Training(loss, {x: [100, 1, 28, 28], label: [100]}, tf.train.AdamOptimizer(0.005))


def _conv_norm(x: tf.Symbol, size: int, filters: int) -> tf.Symbol:
    y = tf.nn.conv2d(x, num_filter=filters, ksize=[1, size, size, 1], padding="SAME")
    return tf.nn.batch_normalization(y)


def _residual(x: tf.Symbol, before: int, filters: int) -> tf.Symbol:
    y = _conv_norm(tf.nn.relu(_conv_norm(x, 3, filters)), 3, filters)
    z: tf.Symbol = tf.nn.relu((x if before == filters else _conv_norm(x, 1, filters)) + y)
    return z


def resnet() -> Training:
    x, label = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    net = tf.nn.conv2d(x, num_filter=16, ksize=[1, 5, 5, 1], padding="SAME")
    net = _residual(_residual(_residual(net, 16, 16), 16, 32), 32, 64)
    net = tf.nn.avg_pool(net, ksize=[1, 4, 4, 1], strides=[1, 2, 2, 1], padding="SAME")
    net = tf.nn.flatten_layer(tf.nn.relu(tf.nn.conv2d(net, num_filter=16, ksize=[1, 5, 5, 1])))
    loss = tf.nn.mean_sparse_softmax_cross_entropy_with_logits(
        tf.nn.linear(net, num_hidden=10, name="fc1"), label
    )
    return Training(loss, {x: [100, 3, 32, 32], label: [100]}, tf.train.AdamOptimizer(0.0005))


NETWORKS = {"softmax": softmax, "mlp": mlp, "lenet": lenet, "resnet": resnet}
PARAMETERS = {"softmax": 7_840, "mlp": 79_500, "lenet": 430_570, "resnet": 126_768}
NNVM_BYTES = {"softmax": 674_568, "mlp": 1_029_208, "lenet": 24_810_456, "resnet": 560_762_072}


@pytest.fixture(params=NETWORKS)
def name(request: pytest.FixtureRequest) -> str:
    tf.reset_default_graph()
    return str(request.param)


def test_golden_parameter_counts(name: str) -> None:
    """As many parameters as there."""
    assert sum(prod(s) for s in NETWORKS[name]().variables().values()) == PARAMETERS[name]


def test_golden_memory(name: str) -> None:
    """The arena of a training step is no larger than NNVM's plan, and the plan is valid."""
    program = NETWORKS[name]().program()
    check_plan(program.graph, program.plan, kernels=program.kernels)  # type: ignore[arg-type]

    assert program.plan.arena_bytes <= NNVM_BYTES[name]


def test_golden_resnet_variables() -> None:
    """The projection comes first, because the program writes `project_x + conv2`."""
    tf.reset_default_graph()
    found = [(v.op.name, shape) for v, shape in resnet().variables().items()]

    weights = [f"{n}{s}".replace(" ", "") for n, s in found if n.endswith("weight")]
    assert weights == [
        "conv2d0_weight[16,3,5,5]",
        "conv2d1_weight[16,16,3,3]",
        "conv2d2_weight[16,16,3,3]",
        "conv2d5_weight[32,16,1,1]",
        "conv2d3_weight[32,16,3,3]",
        "conv2d4_weight[32,32,3,3]",
        "conv2d8_weight[64,32,1,1]",
        "conv2d6_weight[64,32,3,3]",
        "conv2d7_weight[64,64,3,3]",
        "conv2d9_weight[16,64,5,5]",
        "fc1_weight[10,2304]",
    ]
    norms = [n for n, _ in found if n.endswith("gamma")]
    assert norms == [f"batch_normalization{i}_gamma" for i in (0, 1, 4, 2, 3, 7, 5, 6)]
    assert len(found) == 27 and [n for n, _ in found if n.endswith("beta")] == [
        n.replace("gamma", "beta") for n in norms
    ]

"""Other long chains: an LSTM unrolled over many steps of time, and a deep stack of dense layers.

The LSTM's loss reads its last state alone, as where a sequence is classified; so nothing but the
state goes from one step to the next, and memory is what is saved for the way back (Gruslys et al.
2016, https://arxiv.org/abs/1606.03401).  The state comes first in the sum of the gates, so that the
gradients of weights are added from the last step to the first, as they arrive.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Graph, Value
from memory.networks_layers import Inputs, dense


def unrolled_lstm(
    time: int = 1000, batch: int = 32, width: int = 256, classes: int = 10
) -> tuple[Graph, frozenset[int]]:
    """A training step and the positions of the weights."""
    net = Inputs(training=True)
    xs = ops.unstack(net.feed("x", time, batch, width))
    wx, wh = net.weight("wx", width, 4 * width), net.weight("wh", width, 4 * width)
    b = net.weight("b", 4 * width)
    h = c = ops.zeros((batch, width))
    for x in xs:
        i, f, g, o = ops.split(h @ wh + x @ wx + b, 4, 1)
        c = ops.sigmoid(f) * c + ops.sigmoid(i) * ops.tanh(g)
        h = ops.sigmoid(o) * ops.tanh(c)
    return training_step(net, dense(net, h, classes))


def deep_mlp(
    layers: int = 100, batch: int = 64, width: int = 64, classes: int = 10
) -> tuple[Graph, frozenset[int]]:
    """The same of dense layers and tanh."""
    net = Inputs(training=True)
    x = net.feed("x", batch, width)
    for _ in range(layers):
        x = ops.tanh(dense(net, x, width))
    return training_step(net, dense(net, x, classes))


def training_step(net: Inputs, logits: Value) -> tuple[Graph, frozenset[int]]:
    """Loss and gradients, each weight's as soon as it can be computed."""
    labels = net.feed("labels", logits.type.dims[0], dtype="i64")
    loss = ops.mean(ops.sparse_softmax_cross_entropy(logits, labels))
    dws = gradients(loss, net.weights)
    graph = Graph.of((*net.feeds, *net.weights), (loss, *dws), order=(loss, *reversed(dws)))
    return graph, frozenset(range(len(net.feeds), len(graph.inputs)))

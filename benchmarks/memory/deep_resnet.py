"""Residual networks as deep as memory allows, and deeper: a training step of 1000 layers.

Chen et al. 2016 (https://arxiv.org/abs/1604.06174) train residual networks of up to 1000 layers on
images of 224 x 224, batch 32, by deepening every stage of the network of He et al. 2016
(https://arxiv.org/abs/1603.05027): bottlenecks of 1 x 1, 3 x 3 and 1 x 1 convolutions, each behind
its normalisation and relu ("full pre-activation").  Ours has the four stages equally deep.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import byparts_opset as ops
from byparts_graph_ir import Graph, Value
from memory.deep_chains import training_step
from memory.networks_layers import Inputs, classes_of, conv, conv_norm_relu, norm, pool


def deep_resnet(
    layers: int = 1000, batch: int = 32, size: int = 224, width: int = 64, classes: int = 1000
) -> tuple[Graph, frozenset[int]]:
    """A training step and the positions of the weights; `layers` counts convolutions and the head.

    Outputs: the loss, and a gradient for each weight, in the order of the inputs.
    """
    net = Inputs(training=True)
    x = conv_norm_relu(net, net.feed("images", batch, 3, size, size), width, 7, 2)
    x = pool(x, 3)
    blocks = (layers - 2) // 3
    for stage in range(4):
        for block in range(blocks // 4 + (stage < blocks % 4)):
            x = _bottleneck(net, x, width << stage, 2 if stage and not block else 1)
    return training_step(net, classes_of(net, ops.relu(norm(net, x)), classes))


def narrow_resnet(
    blocks: int = 1000, batch: int = 4, size: int = 16, width: int = 8, classes: int = 10
) -> tuple[Graph, frozenset[int]]:
    """The same with `blocks` of two 3 x 3 convolutions, all of one width: small enough to run."""
    net = Inputs(training=True)
    x = conv(net, net.feed("images", batch, 3, size, size), width, 3)
    for _ in range(blocks):
        y = conv(net, ops.relu(norm(net, x)), width, 3)
        x = x + conv(net, ops.relu(norm(net, y)), width, 3)
    return training_step(net, classes_of(net, ops.relu(norm(net, x)), classes))


def _bottleneck(net: Inputs, x: Value, width: int, stride: int) -> Value:
    before = ops.relu(norm(net, x))
    y = conv(net, before, width, 1)
    y = conv(net, ops.relu(norm(net, y)), width, 3, stride)
    y = conv(net, ops.relu(norm(net, y)), 4 * width, 1)
    return y + (x if x.type == y.type else conv(net, before, 4 * width, 1, stride))

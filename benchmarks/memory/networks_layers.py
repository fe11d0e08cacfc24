"""Layers that the networks of this folder are made of.

A definition asks an `Inputs` for its feeds and weights as it needs them, and gives logits.
"""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_graph_ir import Input, TensorType, Value


class Inputs:
    """The inputs of a network, in the order in which its definition asks for them.

    Attributes:
        training: whether batch norm takes the statistics of the batch; else they are weights.
    """

    def __init__(self, training: bool) -> None:
        self.training = training
        self.feeds: list[Input] = []
        self.weights: list[Input] = []

    def feed(self, name: str, *shape: int, dtype: str = "f32") -> Value:
        """Something that is given anew in each step."""
        self.feeds.append(Input(TensorType(dtype, shape), None, name))
        return self.feeds[-1]

    def weight(self, kind: str, *shape: int) -> Value:
        """Something that is learned."""
        name = f"{kind}{len(self.weights)}"
        self.weights.append(Input(TensorType("f32", shape), None, name))
        return self.weights[-1]


def conv(net: Inputs, x: Value, width: int, size: int, stride: int = 1, groups: int = 1) -> Value:
    """A convolution without bias, padded so that stride 1 keeps the extent."""
    filter = net.weight("filter", width, x.type.dims[1] // groups, size, size)
    return ops.conv2d(x, filter, stride, size // 2, groups=groups)


def conv_bias(net: Inputs, x: Value, width: int, size: int) -> Value:
    """The same with a bias for each channel."""
    return _biased(net, conv(net, x, width, size))


def up_conv(net: Inputs, x: Value, width: int) -> Value:
    """Twice the height and width: a transposed convolution of 2 x 2, with bias."""
    filter = net.weight("filter", x.type.dims[1], width, 2, 2)
    return _biased(net, ops.conv2d_transpose(x, filter, 2))


def norm(net: Inputs, x: Value) -> Value:
    """Batch normalisation of images: [batch, channels, height, width]."""
    channels = x.type.dims[1]
    gamma, beta = net.weight("gamma", channels), net.weight("beta", channels)
    if net.training:
        return ops.batch_norm(x, gamma, beta)[0]
    mean, variance = net.weight("mean", channels), net.weight("variance", channels)
    return ops.batch_norm_inference(x, gamma, beta, mean, variance)


def conv_norm(
    net: Inputs, x: Value, width: int, size: int, stride: int = 1, groups: int = 1
) -> Value:
    """A convolution and its normalisation."""
    return norm(net, conv(net, x, width, size, stride, groups))


def conv_norm_relu(
    net: Inputs, x: Value, width: int, size: int, stride: int = 1, groups: int = 1
) -> Value:
    """A convolution, its normalisation and a relu."""
    return ops.relu(conv_norm(net, x, width, size, stride, groups))


def dense(net: Inputs, x: Value, width: int) -> Value:
    """x w + b, along the last axis."""
    return x @ net.weight("w", x.type.dims[-1], width) + net.weight("b", width)


def pool(x: Value, size: int = 2, stride: int = 2) -> Value:
    """The maximum of windows; larger ones than the stride reach out on both sides."""
    return ops.max_pool(x, size, stride, padding=0 if size == stride else size // 2)


def classes_of(net: Inputs, x: Value, classes: int) -> Value:
    """Logits, from the mean of each channel."""
    return dense(net, ops.mean(x, (2, 3)), classes)


def join(xs: Sequence[Value]) -> Value:
    """Images side by side in their channels."""
    return xs[0] if len(xs) == 1 else ops.concat(xs, 1)


def _biased(net: Inputs, x: Value) -> Value:
    return x + ops.expand_dims(net.weight("bias", x.type.dims[1]), (1, 2))

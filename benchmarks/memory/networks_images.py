"""Networks of images: ResNet, VGG, MobileNet, DenseNet, GoogLeNet, U-Net, from their papers.

Each definition takes the batch and sizes, which tests make small, and gives logits.
"""

from __future__ import annotations

import byparts_opset as ops
from byparts_graph_ir import Value
from memory.networks_layers import (
    Inputs,
    classes_of,
    conv,
    conv_bias,
    conv_norm,
    conv_norm_relu,
    dense,
    join,
    norm,
    pool,
    up_conv,
)


def resnet18(
    net: Inputs, batch: int, image: int = 224, width: int = 64, classes: int = 1000
) -> Value:
    """He et al. 2015 (https://arxiv.org/abs/1512.03385): two convolutions of 3 x 3 in a block."""
    x = _stem(net, batch, image, width)
    for stage, blocks in enumerate((2, 2, 2, 2)):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = conv_norm_relu(net, x, width << stage, 3, stride)
            x = _residual(net, x, conv_norm(net, y, width << stage, 3), stride)
    return classes_of(net, x, classes)


def resnet50(
    net: Inputs, batch: int, image: int = 224, width: int = 64, classes: int = 1000
) -> Value:
    """The same with bottlenecks: 1 x 1 down, 3 x 3, 1 x 1 up to four times the width."""
    x = _stem(net, batch, image, width)
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            y = conv_norm_relu(net, x, width << stage, 1)
            y = conv_norm_relu(net, y, width << stage, 3, stride)
            x = _residual(net, x, conv_norm(net, y, 4 * width << stage, 1), stride)
    return classes_of(net, x, classes)


def vgg16(
    net: Inputs, batch: int, image: int = 224, width: int = 64, hidden: int = 4096,
    classes: int = 1000,
) -> Value:  # fmt: skip
    """Simonyan and Zisserman 2014 (https://arxiv.org/abs/1409.1556): biases, no normalisation."""
    x = net.feed("images", batch, 3, image, image)
    for stage, count in enumerate((2, 2, 3, 3, 3)):
        for _ in range(count):
            x = ops.relu(conv_bias(net, x, width << min(stage, 3), 3))
        x = pool(x)
    x = ops.flatten(x)
    for _ in range(2):
        x = ops.relu(dense(net, x, hidden))
    return dense(net, x, classes)


def mobilenetv2(
    net: Inputs, batch: int, image: int = 224, width: int = 32, classes: int = 1000
) -> Value:
    """Sandler et al. 2018 (https://arxiv.org/abs/1801.04381): inverted residuals, depthwise."""
    x = net.feed("images", batch, 3, image, image)
    x = ops.relu6(conv_norm(net, x, width, 3, 2))
    for expansion, channels, blocks, first in (
        *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
        *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
    ):
        for block in range(blocks):
            x = _inverted(net, x, expansion, channels * width // 32, 1 if block else first)
    return classes_of(net, ops.relu6(conv_norm(net, x, 40 * width, 1)), classes)


def densenet121(
    net: Inputs, batch: int, image: int = 224, growth: int = 32, classes: int = 1000
) -> Value:
    """Huang et al. 2016 (https://arxiv.org/abs/1608.06993): each layer sees all before it."""
    x = _stem(net, batch, image, 2 * growth)
    for stage, layers in enumerate((6, 12, 24, 16)):
        if stage:
            y = ops.relu(norm(net, x))
            x = ops.average_pool(conv(net, y, y.type.dims[1] // 2, 1), 2)
        found = [x]
        for _ in range(layers):
            y = conv(net, ops.relu(norm(net, join(found))), 4 * growth, 1)
            found.append(conv(net, ops.relu(norm(net, y)), growth, 3))
        x = join(found)
    return classes_of(net, ops.relu(x), classes)


def inception_like(
    net: Inputs, batch: int, image: int = 224, width: int = 64, classes: int = 1000
) -> Value:
    """GoogLeNet (Szegedy et al. 2014, https://arxiv.org/abs/1409.4842) with batch norm.

    "Like": normalised as its successors are, and without the two auxiliary heads.
    """
    x = net.feed("images", batch, 3, image, image)
    x = pool(conv_norm_relu(net, x, width, 7, 2), 3)
    x = pool(conv_norm_relu(net, conv_norm_relu(net, x, width, 1), 3 * width, 3), 3)
    for name, widths in INCEPTIONS.items():
        if name in ("4a", "5a"):
            x = pool(x, 3)
        x = _inception(net, x, [w * width // 64 for w in widths])
    return classes_of(net, x, classes)


INCEPTIONS = {  # 1 x 1; 1 x 1 then 3 x 3; 1 x 1 then 5 x 5; 1 x 1 after a pool
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


def unet(net: Inputs, batch: int, image: int = 256, width: int = 32, classes: int = 2) -> Value:
    """Ronneberger et al. 2015 (https://arxiv.org/abs/1505.04597), padded, with batch norm."""
    x = net.feed("images", batch, 3, image, image)
    skips = []
    for level in range(4):
        skips.append(_double(net, x, width << level))
        x = pool(skips[-1])
    x = _double(net, x, width << 4)
    for level in (3, 2, 1, 0):
        x = _double(net, join((skips[level], up_conv(net, x, width << level))), width << level)
    return ops.transpose(conv_bias(net, x, classes, 1), (0, 2, 3, 1))  # classes last


def _stem(net: Inputs, batch: int, image: int, width: int) -> Value:
    x = net.feed("images", batch, 3, image, image)
    return pool(conv_norm_relu(net, x, width, 7, 2), 3)


def _residual(net: Inputs, x: Value, y: Value, stride: int) -> Value:
    if x.type != y.type:
        x = conv_norm(net, x, y.type.dims[1], 1, stride)
    return ops.relu(y + x)


def _inverted(net: Inputs, x: Value, expansion: int, width: int, stride: int) -> Value:
    y, wide = x, expansion * x.type.dims[1]
    if expansion > 1:
        y = ops.relu6(conv_norm(net, y, wide, 1))
    y = ops.relu6(conv_norm(net, y, wide, 3, stride, groups=wide))
    y = conv_norm(net, y, width, 1)
    return x + y if x.type == y.type else y


def _inception(net: Inputs, x: Value, widths: list[int]) -> Value:
    a, b1, b3, c1, c5, d = widths
    return join(
        (
            conv_norm_relu(net, x, a, 1),
            conv_norm_relu(net, conv_norm_relu(net, x, b1, 1), b3, 3),
            conv_norm_relu(net, conv_norm_relu(net, x, c1, 1), c5, 5),
            conv_norm_relu(net, pool(x, 3, 1), d, 1),
        )
    )


def _double(net: Inputs, x: Value, width: int) -> Value:
    return conv_norm_relu(net, conv_norm_relu(net, x, width, 3), width, 3)

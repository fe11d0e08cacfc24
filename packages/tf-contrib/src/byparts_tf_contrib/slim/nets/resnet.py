"""Residual networks: v1 (He et al. 2015) and v2 (He et al. 2016), of bottleneck units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from byparts_frontend_tf.api.math.reduce import reduce_mean
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_tf_contrib.layers.arg_scope import add_arg_scope, arg_scope
from byparts_tf_contrib.layers.contrib_convolutions import conv2d
from byparts_tf_contrib.layers.contrib_layers import channels_of, max_pool2d
from byparts_tf_contrib.layers.contrib_norms import batch_norm
from byparts_tf_contrib.slim.collections import collect_named_outputs, convert_collection_to_dict
from byparts_tf_contrib.slim.layers import softmax
from byparts_tf_contrib.slim.nets.resnet_utils import (
    Block,
    conv2d_same,
    stack_blocks_dense,
    subsample,
)

_UNITS = {"50": (3, 4, 6, 3), "101": (3, 4, 23, 3), "152": (3, 8, 36, 3), "200": (3, 24, 36, 3)}


@add_arg_scope
def bottleneck_v1(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """1x1, 3x3, 1x1 beside a shortcut; normalized after each convolution."""
    with variable_scope(scope, "bottleneck_v1", [inputs]) as entered:
        if depth == channels_of(inputs, -1):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(
                inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut"
            )
        y = conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        y = conv2d_same(y, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        y = conv2d(y, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, entered.name, relu(shortcut + y))


@add_arg_scope
def bottleneck_v2(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """1x1, 3x3, 1x1 beside a shortcut; normalized before each convolution."""
    with variable_scope(scope, "bottleneck_v2", [inputs]) as entered:
        preact = batch_norm(inputs, activation_fn=relu, scope="preact")
        bare: dict[str, Any] = {"normalizer_fn": None, "activation_fn": None}
        if depth == channels_of(inputs, -1):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(preact, depth, [1, 1], stride=stride, scope="shortcut", **bare)
        y = conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        y = conv2d_same(y, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        y = conv2d(y, depth, [1, 1], stride=1, scope="conv3", **bare)
        return collect_named_outputs(outputs_collections, entered.name, shortcut + y)


def _network(
    second: bool,
    inputs: Any,
    blocks: Sequence[Block],
    num_classes: Any = None,
    is_training: Any = None,
    global_pool: bool = True,
    output_stride: Any = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> Any:
    """Output, and the outputs of layers by name: end points."""
    what = "resnet_v2" if second else "resnet_v1"
    layers = [conv2d, bottleneck_v2 if second else bottleneck_v1, stack_blocks_dense]
    with variable_scope(scope, what, [inputs], reuse=reuse) as entered:
        ends = f"{entered.original_name_scope}_end_points"
        normal = {} if is_training is None else {"is_training": is_training}
        with arg_scope(layers, outputs_collections=ends), arg_scope([batch_norm], **normal):
            net = inputs
            if include_root_block:
                net = _root(net, second, output_stride)
                output_stride = None if output_stride is None else output_stride // 4
            net = stack_blocks_dense(net, blocks, output_stride)
            if second:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if global_pool:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = conv2d(
                    net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                    scope="logits",
                )  # fmt: skip
            points = convert_collection_to_dict(ends)
            if num_classes is not None:
                points["predictions"] = softmax(net, scope="predictions")
            return net, points


def _root(net: Any, second: bool, output_stride: Any) -> Any:
    if output_stride is not None and output_stride % 4:
        raise ValueError("The output_stride needs to be a multiple of 4.")
    bare: Any = {"activation_fn": None, "normalizer_fn": None} if second else {}
    with arg_scope([conv2d], **bare):
        net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
    return max_pool2d(net, [3, 3], stride=2, scope="pool1")


resnet_v1, resnet_v2 = partial(_network, False), partial(_network, True)


def block_of(unit: Any, scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """Units of 4 * base_depth channels; the last one is strided."""
    usual = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
    return Block(scope, unit, [usual] * (num_units - 1) + [{**usual, "stride": stride}])


resnet_v1_block = partial(block_of, bottleneck_v1)
resnet_v2_block = partial(block_of, bottleneck_v2)


def _of_depth(second: bool, layers: str) -> Callable[..., Any]:
    name = f"resnet_{'v2' if second else 'v1'}_{layers}"

    def network(
        inputs: Any,
        num_classes: Any = None,
        is_training: Any = None,
        global_pool: bool = True,
        output_stride: Any = None,
        reuse: Any = None,
        scope: Any = name,
    ) -> Any:
        unit = bottleneck_v2 if second else bottleneck_v1
        blocks = []
        for i, count in enumerate(_UNITS[layers]):
            blocks.append(block_of(unit, f"block{i + 1}", 64 << i, count, 1 if i == 3 else 2))
        return _network(
            second, inputs, blocks, num_classes, is_training, global_pool, output_stride,
            reuse=reuse, scope=scope,
        )  # fmt: skip

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"ResNet-{layers}: output and end points."
    return network


resnet_v1_50, resnet_v1_101 = _of_depth(False, "50"), _of_depth(False, "101")
resnet_v1_152, resnet_v1_200 = _of_depth(False, "152"), _of_depth(False, "200")
resnet_v2_50, resnet_v2_101 = _of_depth(True, "50"), _of_depth(True, "101")
resnet_v2_152, resnet_v2_200 = _of_depth(True, "152"), _of_depth(True, "200")
SYMBOLS = {
    **{
        f"contrib.slim.nets.resnet_{v}.{name}": name
        for v in ("v1", "v2")
        for name in (
            *(f"resnet_{v}", f"resnet_{v}_block"),
            *(f"resnet_{v}_{layers}" for layers in ("50", "101", "152", "200")),
        )
    },
    **{f"contrib.slim.nets.resnet_{v}.bottleneck": f"bottleneck_{v}" for v in ("v1", "v2")},
    **{
        f"contrib.slim.nets.resnet_{v}.resnet_arg_scope": (
            "slim.nets.resnet_utils:resnet_arg_scope"
        )
        for v in ("v1", "v2")
    },
}

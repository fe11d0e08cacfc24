"""`resnet_utils`: stacks of blocks of residual units."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.pad import pad
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_tf_contrib.layers.arg_scope import add_arg_scope, arg_scope
from byparts_tf_contrib.layers.contrib_convolutions import conv2d
from byparts_tf_contrib.layers.contrib_initializers import variance_scaling_initializer
from byparts_tf_contrib.layers.contrib_layers import max_pool2d
from byparts_tf_contrib.layers.contrib_norms import batch_norm
from byparts_tf_contrib.layers.regularizers import l2_regularizer
from byparts_tf_contrib.slim.collections import collect_named_outputs

_PLACES = ("contrib.slim.nets.resnet_utils", "contrib.slim.nets.resnet_v2.resnet_utils",
           "contrib.slim.nets.resnet_v1.resnet_utils")  # fmt: skip


class Block(namedtuple("Block", ["scope", "unit_fn", "args"])):
    """Units of one kind, with the arguments of each by name: depth, depth_bottleneck, stride."""

    __slots__ = ()


@add_arg_scope
def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Every `factor`-th pixel."""
    if factor == 1:
        return inputs
    return max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None
) -> Any:
    """A convolution whose zeros around do not depend on the size of the images."""
    if stride == 1:
        return conv2d(
            inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope
        )
    around = (kernel_size - 1) * rate
    sides = [around // 2, around - around // 2]
    padded = pad(inputs, [[0, 0], sides, sides, [0, 0]])
    return conv2d(
        padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope
    )


@add_arg_scope
def stack_blocks_dense(
    net: Any, blocks: Sequence[Block], output_stride: Any = None, outputs_collections: Any = None
) -> Any:
    """Blocks one after the other; from `output_stride` on units are dilated and not strided.

    Raises:
        ValueError: the strides do not give `output_stride`.
    """
    current, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as scope:
            for i, unit in enumerate(block.args):
                if output_stride is not None and current > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with variable_scope(f"unit_{i + 1}", values=[net]):
                    if output_stride is not None and current == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, scope.name, net)
    if output_stride is not None and current != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(
    is_training: Any = True,
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Any:
    """The arguments of layers of these networks."""
    normal = {
        "is_training": is_training,
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [conv2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm,
            normalizer_params=normal,
        ),
        arg_scope([batch_norm], **normal),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):
        return scope


SYMBOLS = {
    f"{place}.{name}": name
    for place in _PLACES
    for name in ("Block", "subsample", "conv2d_same", "stack_blocks_dense", "resnet_arg_scope")
}

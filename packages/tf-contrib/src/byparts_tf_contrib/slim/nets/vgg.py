"""VGG (Simonyan and Zisserman 2014) and AlexNet, v2 (Krizhevsky 2014)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.initializers import Constant, TruncatedNormal, Zeros
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.reshape import squeeze
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.arg_scope import arg_scope
from byparts_tf_contrib.layers.contrib_convolutions import conv2d
from byparts_tf_contrib.layers.contrib_layers import dropout, fully_connected, max_pool2d
from byparts_tf_contrib.layers.regularizers import l2_regularizer
from byparts_tf_contrib.slim.collections import convert_collection_to_dict
from byparts_tf_contrib.slim.layers import repeat


@symbol("contrib.slim.nets.vgg.vgg_arg_scope")
def vgg_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arguments of layers of VGG."""
    with (
        arg_scope(
            [conv2d, fully_connected],
            activation_fn=relu,
            weights_regularizer=l2_regularizer(weight_decay),
            biases_initializer=Zeros(),
        ),
        arg_scope([conv2d], padding="SAME") as scope,
    ):
        return scope


def _classes(net: Any, num_classes: Any, keep: float, training: Any, biases: Any = None) -> Any:
    """The last two layers, of one pixel."""
    more = {} if biases is None else {"biases_initializer": biases}
    net = dropout(net, keep, is_training=training, scope="dropout6")
    net = conv2d(net, 4096, [1, 1], scope="fc7")
    net = dropout(net, keep, is_training=training, scope="dropout7")
    return conv2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **more
    )


def _vgg(name: str, counts: tuple[int, ...]) -> Callable[..., Any]:
    def network(
        inputs: Any,
        num_classes: int = 1000,
        is_training: Any = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: Any = name,
    ) -> Any:
        with variable_scope(scope, name, [inputs]) as entered:
            ends = f"{entered.original_name_scope}_end_points"
            with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=ends):
                net = inputs
                for i, count in enumerate(counts):
                    size = min(64 << i, 512)
                    net = repeat(net, count, conv2d, size, [3, 3], scope=f"conv{i + 1}")
                    net = max_pool2d(net, [2, 2], scope=f"pool{i + 1}")
                net = conv2d(net, 4096, [7, 7], padding="VALID", scope="fc6")
                net = _classes(net, num_classes, dropout_keep_prob, is_training)
                points = convert_collection_to_dict(ends)
                if spatial_squeeze:
                    net = squeeze(net, [1, 2], name="fc8/squeezed")
                    points[f"{entered.name}/fc8"] = net
                return net, points

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"{name}: logits and end points."
    return network


vgg_a = _vgg("vgg_a", (1, 1, 2, 2, 2))
vgg_16 = vgg_d = _vgg("vgg_16", (2, 2, 3, 3, 3))
vgg_19 = vgg_e = _vgg("vgg_19", (2, 2, 4, 4, 4))


@symbol("contrib.slim.nets.alexnet.alexnet_v2_arg_scope")
def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Any:
    """The arguments of layers of AlexNet."""
    with (
        arg_scope(
            [conv2d, fully_connected],
            activation_fn=relu,
            biases_initializer=Constant(0.1),
            weights_regularizer=l2_regularizer(weight_decay),
        ),
        arg_scope([conv2d], padding="SAME"),
        arg_scope([max_pool2d], padding="VALID") as scope,
    ):
        return scope


@symbol("contrib.slim.nets.alexnet.alexnet_v2")
def alexnet_v2(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: Any = "alexnet_v2",
) -> Any:
    """AlexNet of one column: logits and end points."""
    with variable_scope(scope, "alexnet_v2", [inputs]) as entered:
        ends = f"{entered.original_name_scope}_end_points"
        with arg_scope([conv2d, fully_connected, max_pool2d], outputs_collections=[ends]):
            net = conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [3, 3], 2, scope="pool1")
            net = conv2d(net, 192, [5, 5], scope="conv2")
            net = max_pool2d(net, [3, 3], 2, scope="pool2")
            for i, size in ((3, 384), (4, 384), (5, 256)):
                net = conv2d(net, size, [3, 3], scope=f"conv{i}")
            net = max_pool2d(net, [3, 3], 2, scope="pool5")
            with arg_scope(
                [conv2d],
                weights_initializer=TruncatedNormal(0.0, 0.005),
                biases_initializer=Constant(0.1),
            ):
                net = conv2d(net, 4096, [5, 5], padding="VALID", scope="fc6")
                net = _classes(net, num_classes, dropout_keep_prob, is_training, Zeros())
            points = convert_collection_to_dict(ends)
            if spatial_squeeze:
                net = squeeze(net, [1, 2], name="fc8/squeezed")
                points[f"{entered.name}/fc8"] = net
            return net, points


SYMBOLS = {
    f"contrib.slim.nets.vgg.{name}": name
    for name in ("vgg_a", "vgg_16", "vgg_d", "vgg_19", "vgg_e")
}

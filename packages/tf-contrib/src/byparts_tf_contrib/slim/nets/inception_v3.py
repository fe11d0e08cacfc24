"""Inception v3 (Szegedy et al. 2015): names as in the published weights."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import Any

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.initializers import TruncatedNormal
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.reshape import squeeze
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_tf_contrib.layers.arg_scope import arg_scope
from byparts_tf_contrib.layers.contrib_convolutions import conv2d
from byparts_tf_contrib.layers.contrib_initializers import variance_scaling_initializer
from byparts_tf_contrib.layers.contrib_layers import (
    avg_pool2d,
    dropout,
    fully_connected,
    max_pool2d,
)
from byparts_tf_contrib.layers.contrib_norms import batch_norm
from byparts_tf_contrib.layers.regularizers import l2_regularizer
from byparts_tf_contrib.slim.layers import softmax

_STEM: tuple[tuple[Any, ...], ...] = (  # name, channels (0: pooling), size, stride, padding
    ("Conv2d_1a_3x3", 32, 3, 2, "VALID"),
    ("Conv2d_2a_3x3", 32, 3, 1, "VALID"),
    ("Conv2d_2b_3x3", 64, 3, 1, "SAME"),
    ("MaxPool_3a_3x3", 0, 3, 2, "VALID"),
    ("Conv2d_3b_1x1", 80, 1, 1, "VALID"),
    ("Conv2d_4a_3x3", 192, 3, 1, "VALID"),
    ("MaxPool_5a_3x3", 0, 3, 2, "VALID"),
)
Branches = list[list[Any]]


def _same(pool: int, *branches: list[Any]) -> Branches:
    """Branches, and one of a mean and `pool` channels; those of size 1 are numbers."""
    return [*branches, ["mean", ("Conv2d_0b_1x1", pool, (1, 1))]]


def _a(pool: int, second: tuple[str, str]) -> Branches:
    """35 x 35 pixels."""
    return _same(
        pool,
        [("Conv2d_0a_1x1", 64, (1, 1))],
        [(second[0], 48, (1, 1)), (second[1], 64, (5, 5))],
        [
            ("Conv2d_0a_1x1", 64, (1, 1)),
            ("Conv2d_0b_3x3", 96, (3, 3)),
            ("Conv2d_0c_3x3", 96, (3, 3)),
        ],
    )


def _b(middle: int) -> Branches:
    """17 x 17 pixels: 7 x 7 as 1 x 7 and 7 x 1."""
    return _same(
        192,
        [("Conv2d_0a_1x1", 192, (1, 1))],
        [
            ("Conv2d_0a_1x1", middle, (1, 1)),
            ("Conv2d_0b_1x7", middle, (1, 7)),
            ("Conv2d_0c_7x1", 192, (7, 1)),
        ],
        [
            ("Conv2d_0a_1x1", middle, (1, 1)),
            ("Conv2d_0b_7x1", middle, (7, 1)),
            ("Conv2d_0c_1x7", middle, (1, 7)),
            ("Conv2d_0d_7x1", middle, (7, 1)),
            ("Conv2d_0e_1x7", 192, (1, 7)),
        ],
    )


def _c(second: str) -> Branches:
    """8 x 8 pixels: the last convolutions stand side by side."""
    return _same(
        192,
        [("Conv2d_0a_1x1", 320, (1, 1))],
        [
            ("Conv2d_0a_1x1", 384, (1, 1)),
            [("Conv2d_0b_1x3", 384, (1, 3)), (second, 384, (3, 1))],
        ],
        [
            ("Conv2d_0a_1x1", 448, (1, 1)),
            ("Conv2d_0b_3x3", 384, (3, 3)),
            [("Conv2d_0c_1x3", 384, (1, 3)), ("Conv2d_0d_3x1", 384, (3, 1))],
        ],
    )


_USUAL = ("Conv2d_0a_1x1", "Conv2d_0b_5x5")
_SMALLER_A: Branches = [
    [("Conv2d_1a_1x1", 384, (3, 3), 2)],
    [
        ("Conv2d_0a_1x1", 64, (1, 1)),
        ("Conv2d_0b_3x3", 96, (3, 3)),
        ("Conv2d_1a_1x1", 96, (3, 3), 2),
    ],
    ["max"],
]
_SMALLER_B: Branches = [
    [("Conv2d_0a_1x1", 192, (1, 1)), ("Conv2d_1a_3x3", 320, (3, 3), 2)],
    [
        ("Conv2d_0a_1x1", 192, (1, 1)),
        ("Conv2d_0b_1x7", 192, (1, 7)),
        ("Conv2d_0c_7x1", 192, (7, 1)),
        ("Conv2d_1a_3x3", 192, (3, 3), 2),
    ],
    ["max"],
]
_BLOCKS: tuple[tuple[str, Branches], ...] = (
    ("Mixed_5b", _a(32, _USUAL)),
    ("Mixed_5c", _a(64, ("Conv2d_0b_1x1", "Conv_1_0c_5x5"))),
    ("Mixed_5d", _a(64, _USUAL)),
    ("Mixed_6a", _SMALLER_A),
    ("Mixed_6b", _b(128)),
    ("Mixed_6c", _b(160)),
    ("Mixed_6d", _b(160)),
    ("Mixed_6e", _b(192)),
    ("Mixed_7a", _SMALLER_B),
    ("Mixed_7b", _c("Conv2d_0b_3x1")),
    ("Mixed_7c", _c("Conv2d_0c_3x1")),
)


def _step(net: Any, step: Any, depth: Any) -> Any:
    if step == "mean":
        return avg_pool2d(net, [3, 3], scope="AvgPool_0a_3x3")
    if step == "max":
        return max_pool2d(net, [3, 3], stride=2, padding="VALID", scope="MaxPool_1a_3x3")
    if isinstance(step, list):
        return concat([_step(net, s, depth) for s in step], 3)
    name, channels, size, *stride = step
    how: Any = {"stride": stride[0], "padding": "VALID"} if stride else {}
    return conv2d(net, depth(channels), list(size), scope=name, **how)


def _mixed(net: Any, branches: Branches, depth: Any) -> Any:
    made = []
    for i, steps in enumerate(branches):
        with variable_scope(f"Branch_{i}"):
            part = net
            for step in steps:
                part = _step(part, step, depth)
            made.append(part)
    return concat(made, 3)


def _depth(channels: int, multiplier: float, least: int) -> int:
    return max(int(channels * multiplier), least)


def inception_v3_base(
    inputs: Any,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: Any = None,
) -> Any:
    """The output of a layer, and the outputs of those before it by name.

    Raises:
        ValueError: there is no such layer; the multiplier is not positive.
    """
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    depth = partial(_depth, multiplier=depth_multiplier, least=min_depth)
    ends: OrderedDict[str, Any] = OrderedDict()
    layers = [conv2d, max_pool2d, avg_pool2d]
    with variable_scope(scope, "InceptionV3", [inputs]):
        net = inputs
        with arg_scope(layers, stride=1, padding="VALID"):
            for name, channels, size, stride, padding in _STEM:
                how: Any = {"stride": stride, "padding": padding, "scope": name}
                if channels:
                    net = conv2d(net, depth(channels), [size, size], **how)
                else:
                    net = max_pool2d(net, [size, size], **how)
                ends[name] = net
                if name == final_endpoint:
                    return net, ends
        with arg_scope(layers, stride=1, padding="SAME"):
            for name, branches in _BLOCKS:
                with variable_scope(name):
                    net = _mixed(net, branches, depth)
                ends[name] = net
                if name == final_endpoint:
                    return net, ends
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def _smaller(net: Any, size: list[int]) -> list[int]:
    """The window, or the images where these are smaller."""
    height, width = net.get_shape().as_list()[1:3]
    if height is None or width is None:
        return size
    return [min(height, size[0]), min(width, size[1])]


def _auxiliary(net: Any, num_classes: int, depth: Any, squeezed: bool) -> Any:
    """The logits of a layer in the middle."""
    with variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        size = _smaller(net, [5, 5])
        net = conv2d(
            net, depth(768), size, weights_initializer=TruncatedNormal(0.0, 0.01),
            padding="VALID", scope=f"Conv2d_2a_{size[0]}x{size[1]}",
        )  # fmt: skip
        net = conv2d(
            net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
            weights_initializer=TruncatedNormal(0.0, 0.001), scope="Conv2d_2b_1x1",
        )  # fmt: skip
        return squeeze(net, [1, 2], name="SpatialSqueeze") if squeezed else net


def inception_v3(
    inputs: Any,
    num_classes: int = 1000,
    is_training: Any = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Any = softmax,
    spatial_squeeze: bool = True,
    reuse: Any = None,
    scope: Any = "InceptionV3",
) -> Any:
    """Logits, and the outputs of layers by name."""
    depth = partial(_depth, multiplier=depth_multiplier, least=min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as entered,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, ends = inception_v3_base(
            inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=entered
        )
        layers = [conv2d, max_pool2d, avg_pool2d]
        with arg_scope(layers, stride=1, padding="SAME"):
            ends["AuxLogits"] = _auxiliary(ends["Mixed_6e"], num_classes, depth, spatial_squeeze)
            with variable_scope("Logits"):
                size = _smaller(net, [8, 8])
                name = f"AvgPool_1a_{size[0]}x{size[1]}"
                net = avg_pool2d(net, size, padding="VALID", scope=name)
                net = dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                ends["PreLogits"] = net
                logits = conv2d(
                    net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                    scope="Conv2d_1c_1x1",
                )  # fmt: skip
                if spatial_squeeze:
                    logits = squeeze(logits, [1, 2], name="SpatialSqueeze")
            ends["Logits"] = logits
            ends["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, ends


inception_v3.default_image_size = 299  # type: ignore[attr-defined]  # as there


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: Any = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Any:
    """The arguments of layers of Inception."""
    normal = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": updates_collections,
        "fused": use_fused_batchnorm,
    }
    with (
        arg_scope([conv2d, fully_connected], weights_regularizer=l2_regularizer(weight_decay)),
        arg_scope(
            [conv2d],
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm,
            normalizer_params=normal,
        ) as scope,
    ):
        return scope


_PLACES = (
    *("contrib.slim.nets.inception", "contrib.slim.nets.inception_v3"),
    "contrib.slim.python.slim.nets.inception_v3",
)
SYMBOLS = {
    f"{place}.{name}": name
    for place in _PLACES
    for name in ("inception_v3", "inception_v3_base", "inception_v3_arg_scope")
}

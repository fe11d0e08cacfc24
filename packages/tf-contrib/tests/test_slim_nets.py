"""Networks of slim: as many weights as are published, under their names; and one that runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf

slim = tf.contrib.slim
nets = slim.nets


def counted() -> tuple[int, list[str]]:
    """The numbers in the variables of models, and their names."""
    variables = slim.get_model_variables()
    return slim.model_analyzer.analyze_vars(variables)[0], [v.op.name for v in variables]


def test_inception_v3_has_the_published_weights() -> None:
    """21802784 to the last mixture, as slim's own test says."""
    with tf.Graph().as_default(), slim.arg_scope(nets.inception.inception_v3_arg_scope()):
        x = tf.placeholder(tf.float32, [2, 299, 299, 3])
        net, ends = nets.inception.inception_v3_base(x)
        count, names = counted()

        assert (count, len(ends)) == (21802784, 18) and net.shape.as_list() == [2, 8, 8, 2048]
        assert names[0] == "InceptionV3/Conv2d_1a_3x3/weights"
        assert "InceptionV3/Mixed_5c/Branch_1/Conv_1_0c_5x5/BatchNorm/beta" in names
        assert ends["Mixed_6e"].shape.as_list() == [2, 17, 17, 768]


def test_the_whole_of_inception_v3() -> None:
    with tf.Graph().as_default(), slim.arg_scope(nets.inception.inception_v3_arg_scope()):
        x = tf.placeholder(tf.float32, [None, 299, 299, 3])
        logits, ends = nets.inception.inception_v3(x, 1001, is_training=False)

        assert logits.op.name == "InceptionV3/Logits/SpatialSqueeze"
        assert ends["AuxLogits"].shape.as_list() == [None, 1001]
        assert "InceptionV3/AuxLogits/Conv2d_2a_5x5/weights" in counted()[1]


@pytest.mark.parametrize(
    ("name", "weights", "some"),
    [
        ("resnet_v2.resnet_v2_50", 25613800, "block1/unit_2/bottleneck_v2/conv1/weights"),
        ("vgg.vgg_16", 138357544, "conv3/conv3_3/biases"),
        ("alexnet.alexnet_v2", 50303912, "fc6/weights"),
    ],
)
def test_others_have_the_published_weights(name: str, weights: int, some: str) -> None:
    """What is known of ResNet-50 v2, VGG-16 and AlexNet; each under the name of its network."""
    module, _, function = name.partition(".")
    network: Any = getattr(getattr(nets, module), function)
    scopes: dict[str, Any] = {
        "resnet_v2": nets.resnet_v2.resnet_utils.resnet_arg_scope,
        "vgg": nets.vgg.vgg_arg_scope,
        "alexnet": nets.alexnet.alexnet_v2_arg_scope,
    }
    with tf.Graph().as_default(), slim.arg_scope(scopes[module]()):
        logits, ends = network(tf.placeholder(tf.float32, [1, 224, 224, 3]), 1000)
        count, names = counted()

        assert count == weights and f"{function}/{some}" in names
        assert logits.shape.as_list()[-1] == 1000 and len(ends) > 5


def test_a_small_residual_network_runs_and_dilates() -> None:
    """With an output stride the units after it are dilated: images stay as large."""
    session = tf.Session(graph=tf.Graph(), backends=("numpy",))
    with session, session.graph.as_default():
        blocks = [
            nets.resnet_v2.resnet_v2_block("block1", 2, 2, 2),
            nets.resnet_v2.resnet_v2_block("block2", 3, 1, 2),
        ]
        with slim.arg_scope(nets.resnet_v2.resnet_arg_scope(is_training=False)):
            x = tf.placeholder(tf.float32, [None, 32, 32, 3])
            small, _ = nets.resnet_v2.resnet_v2(x, blocks, global_pool=False, scope="r")
            large, _ = nets.resnet_v2.resnet_v2(
                x, blocks, 5, global_pool=False, output_stride=4, reuse=tf.AUTO_REUSE, scope="r"
            )
        session.run(tf.global_variables_initializer())
        found = session.run(large, {x: np.ones((1, 32, 32, 3))})

        assert small.shape.as_list() == [None, 2, 2, 12] and found.shape == (1, 8, 8, 5)
        assert np.isfinite(found).all()

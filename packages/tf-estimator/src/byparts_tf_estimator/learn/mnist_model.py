"""`tensorflow.examples.tutorials.mnist.mnist`: the network of TensorFlow's first tutorial."""

from __future__ import annotations

import math
from typing import Any

from byparts_frontend_tf.api.cast import cast, to_int64
from byparts_frontend_tf.api.constant import zeros
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.losses.losses import sparse_softmax_cross_entropy
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.nn.relu import relu
from byparts_frontend_tf.api.nn.softmax import in_top_k
from byparts_frontend_tf.api.random.random import truncated_normal
from byparts_frontend_tf.api.summary.summary import scalar
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_files.dtypes import int32

NUM_CLASSES, IMAGE_SIZE = 10, 28
IMAGE_PIXELS = IMAGE_SIZE * IMAGE_SIZE
_HERE = "examples.tutorials.mnist.mnist."


def _layer(x: Any, width: int, count: int) -> Any:
    first = truncated_normal([width, count], stddev=1.0 / math.sqrt(float(width)))
    weights = Variable(first, name="weights")
    return matmul(x, weights) + Variable(zeros([count]), name="biases")


@symbol(f"{_HERE}inference")
def inference(images: Any, hidden1_units: int, hidden2_units: int) -> Tensor:
    """The logits of images [examples, 784], through two hidden layers."""
    with name_scope("hidden1"):
        first = relu(_layer(images, IMAGE_PIXELS, hidden1_units))
    with name_scope("hidden2"):
        second = relu(_layer(first, hidden1_units, hidden2_units))
    with name_scope("softmax_linear"):
        logits: Tensor = _layer(second, hidden2_units, NUM_CLASSES)
        return logits


@symbol(f"{_HERE}loss")
def loss(logits: Any, labels: Any) -> Tensor:
    """The mean cross entropy."""
    made: Tensor = sparse_softmax_cross_entropy(labels=to_int64(labels), logits=logits)
    return made


@symbol(f"{_HERE}training")
def training(loss: Any, learning_rate: float) -> Any:
    """An operation that takes a step, and counts it."""
    scalar("loss", loss)
    step = Variable(0, name="global_step", trainable=False)
    optimizer = named("train.GradientDescentOptimizer")(learning_rate)
    return optimizer.minimize(loss, global_step=step)


@symbol(f"{_HERE}evaluation")
def evaluation(logits: Any, labels: Any) -> Tensor:
    """The number of examples whose class is right."""
    return reduce_sum(cast(in_top_k(logits, labels, 1), int32))


SYMBOLS = {f"{_HERE}{name}": name for name in ("NUM_CLASSES", "IMAGE_SIZE", "IMAGE_PIXELS")}

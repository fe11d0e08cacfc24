"""What functions of `tf.nn`, losses and layers compute, with any TensorFlow 1.

TF_USE_LEGACY_KERAS=1 python nn_values.py > data/nn.json         records TensorFlow's own, where
`tensorflow.compat.v1` and tf_keras are installed
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

X = np.sin(np.arange(2 * 7 * 6 * 4, dtype=np.float32)).reshape(2, 7, 6, 4)
ROWS = np.cos(np.arange(12, dtype=np.float32)).reshape(3, 4)
HOT = np.eye(4, dtype=np.float32)[[1, 3, 0]]


def filters(*dims: int) -> Any:
    """Weights of this shape."""
    return (0.3 * np.cos(1.7 * np.arange(np.prod(dims)))).reshape(dims).astype(np.float32)


def functions(tf: Any) -> dict[str, Callable[[Any, Any], Any]]:
    """Name -> a function of images x and rows r."""
    nn, losses = tf.nn, tf.losses
    return {
        "conv2d": lambda x, r: nn.conv2d(x, filters(3, 3, 4, 5), [1, 1, 1, 1], "SAME"),
        "strides": lambda x, r: nn.conv2d(x, filters(3, 2, 4, 5), [1, 2, 2, 1], "SAME"),
        "valid": lambda x, r: nn.conv2d(
            x, filters(2, 3, 4, 2), [1, 1, 2, 1], "VALID", name="named"
        ),
        "dilated": lambda x, r: nn.atrous_conv2d(x, filters(3, 3, 4, 2), 2, "SAME"),
        "transposed": lambda x, r: nn.conv2d_transpose(
            x, filters(3, 3, 5, 4), [2, 14, 12, 5], [1, 2, 2, 1], "SAME"
        ),
        "depthwise": lambda x, r: nn.depthwise_conv2d(x, filters(3, 3, 4, 2), [1, 1, 1, 1], "SAME"),
        "separable": lambda x, r: nn.separable_conv2d(
            x, filters(3, 3, 4, 2), filters(1, 1, 8, 3), [1, 1, 1, 1], "VALID"
        ),
        "conv1d": lambda x, r: nn.conv1d(x[:, 0], filters(3, 4, 2), 2, "SAME"),
        "max_pool": lambda x, r: nn.max_pool(x, [1, 3, 2, 1], [1, 2, 2, 1], "SAME"),
        "avg_pool": lambda x, r: nn.avg_pool(x, [1, 3, 3, 1], [1, 2, 1, 1], "SAME"),
        "bias_add": lambda x, r: nn.bias_add(x, [1.0, 2.0, 3.0, 4.0]),
        "lrn": lambda x, r: nn.lrn(x, 1, bias=2.0, alpha=0.5, beta=0.75),
        "moments": lambda x, r: tf.stack(nn.moments(x, [0, 1, 2])),
        "batch_normalization": lambda x, r: nn.batch_normalization(
            x, *nn.moments(x, [0, 1, 2]), 0.5, 2.0, 1e-3
        ),
        "fused_batch_norm": lambda x, r: nn.fused_batch_norm(x, [1.0] * 4, [0.5] * 4)[0],
        "fused variance": lambda x, r: (  # whose gradient is 0
            nn.fused_batch_norm(x, [1.0] * 4, [0.5] * 4)[2] + 0 * x[0, 0, 0]
        ),
        "softmax": lambda x, r: nn.softmax(r),
        "softmax of columns": lambda x, r: nn.softmax(r, 0),
        "log_softmax": lambda x, r: nn.log_softmax(r),
        "cross entropy": lambda x, r: nn.softmax_cross_entropy_with_logits_v2(labels=HOT, logits=r),
        "sparse": lambda x, r: nn.sparse_softmax_cross_entropy_with_logits(
            labels=[1, 3, 0], logits=r
        ),
        "sigmoid": lambda x, r: nn.sigmoid_cross_entropy_with_logits(labels=HOT, logits=r),
        "weighted": lambda x, r: nn.weighted_cross_entropy_with_logits(
            labels=HOT, logits=r, pos_weight=2.0
        ),
        "top_k": lambda x, r: nn.top_k(r, 2)[0],
        "l2_normalize": lambda x, r: nn.l2_normalize(r, 1),
        "l2_loss": lambda x, r: nn.l2_loss(r),
        "xw_plus_b": lambda x, r: nn.xw_plus_b(r, filters(4, 2), [1.0, 2.0]),
        "leaky_relu": lambda x, r: nn.leaky_relu(r),
        "crelu": lambda x, r: nn.crelu(r),
        "swish": lambda x, r: nn.swish(r),
        "log_poisson_loss": lambda x, r: nn.log_poisson_loss(tf.abs(r) * 3, r, True),
        "dropout of nothing": lambda x, r: nn.dropout(r, keep_prob=1.0),
        "pad": lambda x, r: tf.pad(r, [[1, 0], [2, 1]], "REFLECT"),
        "mean_squared_error": lambda x, r: losses.mean_squared_error(HOT, r),
        "absolute_difference": lambda x, r: losses.absolute_difference(
            HOT, r, weights=[[1.0], [0.0], [2.0]]
        ),
        "huber_loss": lambda x, r: losses.huber_loss(HOT, 3 * r),
        "log_loss": lambda x, r: losses.log_loss(HOT, tf.sigmoid(r)),
        "hinge_loss": lambda x, r: losses.hinge_loss(HOT, r),
        "cosine_distance": lambda x, r: losses.cosine_distance(HOT, r, axis=1),
        "losses.softmax": lambda x, r: losses.softmax_cross_entropy(HOT, r, label_smoothing=0.1),
        "losses.sparse": lambda x, r: losses.sparse_softmax_cross_entropy([1, 3, 0], r),
        "losses.sigmoid": lambda x, r: losses.sigmoid_cross_entropy(HOT, r, reduction="none"),
    }


def value(tf: Any, name: str) -> dict[str, Any]:
    """Shape, numbers and name of what a function gives, and sums of its gradients."""
    with tf.Graph().as_default(), tf.Session() as session:
        x, r = tf.constant(X, name="x"), tf.constant(ROWS, name="r")
        y = functions(tf)[name](x, r)
        weights = tf.cos(tf.range(tf.size(y), dtype=tf.float32))
        loss = tf.reduce_sum(tf.reshape(y, [-1]) * weights)
        slopes = [g for g in tf.gradients(loss, [x, r]) if g is not None]
        found, losses, *dxs = session.run([y, tf.get_collection("losses"), *slopes])
        return {
            "name": y.name,
            "shape": list(found.shape),
            "some": np.ravel(found)[:: max(1, found.size // 7)].tolist(),
            "gradients": [float(np.abs(d).sum()) for d in dxs],
            "losses": len(losses),
        }


def network(tf: Any) -> dict[str, Any]:
    """A network of layers, trained for three steps; evaluated by moving statistics."""
    layers = tf.layers
    with tf.Graph().as_default(), tf.Session() as session:
        x, training = tf.placeholder(tf.float32, [None, 7, 6, 4]), tf.placeholder(tf.bool, [])

        def weights(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return tf.constant(filters(*[int(d) for d in shape]))

        def penalty(w: Any) -> Any:
            return 0.01 * tf.nn.l2_loss(w)

        given = {"kernel_initializer": weights}
        y = layers.conv2d(
            x, 6, 3, padding="same", activation=tf.nn.relu, kernel_regularizer=penalty, **given
        )
        y = layers.max_pooling2d(y, 2, 2)
        y = layers.conv2d(y, 5, [2, 3], strides=(1, 2), use_bias=False, name="second", **given)
        y = layers.batch_normalization(y, training=training, momentum=0.9)
        y = layers.conv2d_transpose(y, 3, 2, strides=2, **given)
        y = layers.average_pooling2d(y, [2, 1], 1, padding="same")
        flat = layers.flatten(y)
        y = layers.batch_normalization(layers.dense(flat, 8, **given), training=training)
        y = layers.dropout(tf.nn.tanh(y), rate=0.0, training=training)
        y = layers.dense(y, 2, name="out", **given)
        again = layers.dense(tf.nn.relu(y), 2, name="last", **given)
        shared = layers.dense(again, 2, name="last", reuse=True)
        loss = tf.reduce_mean(tf.square(shared - 1.0)) + tf.losses.get_regularization_loss()
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [float(session.run([loss, train], {x: X, training: True})[0]) for _ in range(3)]
        tested = session.run(loss, {x: X, training: False})
        variables = tf.global_variables()
        sums = [float(np.abs(v).sum()) for v in session.run(variables)]
        return {
            "losses": losses,
            "tested": float(tested),
            "shapes": [t.get_shape().as_list() for t in (flat, shared)],
            "names": [shared.name, flat.name],
            "variables": dict(zip([v.name for v in variables], sums, strict=True)),
            "trained": [v.name for v in tf.trainable_variables()],
            "updates": len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)),
        }


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    made: dict[str, Any] = {name: value(tensorflow, name) for name in functions(tensorflow)}
    made["network"] = network(tensorflow)
    print(json.dumps({"tensorflow": tensorflow.__version__, **made}))

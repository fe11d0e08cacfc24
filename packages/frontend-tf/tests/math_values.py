"""What functions of arrays give, with any TensorFlow 1.

TF_USE_LEGACY_KERAS=1 python math_values.py > data/math.json         records TensorFlow's own, where
`tensorflow.compat.v1` is installed
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

X = np.sin(np.arange(24, dtype=np.float32)).reshape(2, 3, 4)
IMAGES = np.cos(np.arange(4 * 4 * 2 * 4, dtype=np.float32)).reshape(4, 4, 2, 4)
ROW, NUMBERS = X.reshape(-1)[:9], np.array([3, 1, 4, 1, 0, 4, 2, 1, 3], np.int32)
POINTS = np.array([-2.5, -0.3, 1e-3, 0.5, 1, 2, 3.7, 20, 1e8])


def functions(tf: Any) -> dict[str, Callable[[], Any]]:
    """Name -> a function of nothing."""
    made: dict[str, Callable[[], Any]] = {}
    for part in (_sets, _orders, _blocks, _products, _volumes, _moments, _signals, _small):
        made.update(part(tf))
    return made


def _sets(tf: Any) -> dict[str, Callable[[], Any]]:
    sparse = tf.SparseTensor
    heard, said = (
        ([[0, 0], [0, 1], [2, 0]], [1, 2, 3]),
        ([[0, 0], [1, 0], [2, 0], [2, 1]], [1, 2, 3, 4]),
    )
    return {
        "unique": lambda: tf.unique(NUMBERS),
        "unique_with_counts": lambda: tf.unique_with_counts(NUMBERS, out_idx=tf.int64),
        "setdiff1d": lambda: tf.setdiff1d(NUMBERS, [1, 2]),
        "invert_permutation": lambda: tf.invert_permutation([2, 0, 1]),
        "dynamic_partition": lambda: tf.dynamic_partition(ROW, NUMBERS, 6),
        "parts of matrices": lambda: tf.dynamic_partition(X[0], [[1, 0, 1, 0]] * 3, 2),
        "parts of rows": lambda: tf.dynamic_partition(X, [[0, 1, 0], [1, 1, 0]], 2),
        "dynamic_stitch": lambda: tf.dynamic_stitch(
            [[0, 3], [1], 4], [X[0, :2], X[1, :1], X[1, 2]]
        ),
        "edit_distance": lambda: tf.edit_distance(sparse(*heard, [3, 2]), sparse(*said, [3, 2])),
        "edits": lambda: tf.edit_distance(sparse(*heard, [3, 2]), sparse(*said, [3, 2]), False),
    }


def _orders(tf: Any) -> dict[str, Callable[[], Any]]:
    return {
        "sort": lambda: tf.sort(X, axis=1),
        "sort down": lambda: tf.sort(X, direction="DESCENDING"),
        "argsort": lambda: tf.argsort(NUMBERS),
        "argsort down": lambda: tf.argsort(NUMBERS, direction="DESCENDING", stable=True),
        "searchsorted": lambda: tf.searchsorted([1, 3, 3, 5], [0, 3, 4, 9]),
        "searchsorted right": lambda: tf.searchsorted([1, 3, 3, 5], [0, 3, 9], side="right"),
        "bincount": lambda: tf.bincount(NUMBERS, ROW, minlength=8),
        "bincount to 3": lambda: tf.bincount(NUMBERS, maxlength=3),
        "histogram": lambda: tf.histogram_fixed_width(ROW, [-0.5, 0.5], 5),
        "histogram bins": lambda: tf.histogram_fixed_width_bins(ROW, [-0.5, 0.5], 5),
        "confusion": lambda: tf.confusion_matrix(NUMBERS[:5], NUMBERS[4:]),
        "confusion weighted": lambda: tf.confusion_matrix(
            NUMBERS[:5], NUMBERS[4:], 6, tf.float32, weights=ROW[:5]
        ),
        "count_nonzero": lambda: tf.count_nonzero(NUMBERS),
        "count along": lambda: tf.count_nonzero(X * (X > 0), axis=1, dtype=tf.int32, keepdims=True),
    }


def _blocks(tf: Any) -> dict[str, Callable[[], Any]]:
    return {
        "depth_to_space": lambda: tf.depth_to_space(IMAGES[:1], 2),
        "space_to_depth": lambda: tf.space_to_depth(IMAGES[:1], 2),
        "space_to_batch_nd": lambda: tf.space_to_batch_nd(IMAGES[:1], [2, 3], [[0, 0], [1, 0]]),
        "space_to_batch": lambda: tf.space_to_batch(IMAGES[:1], [[0, 0], [0, 0]], 2),
        "batch_to_space_nd": lambda: tf.batch_to_space_nd(IMAGES, [2, 2], [[1, 0], [0, 2]]),
        "roll": lambda: tf.roll(X, [1, -2], [0, 2]),
        "batch_gather": lambda: tf.batch_gather(X, [[2, 0], [1, 1]]),
        "accumulate_n": lambda: tf.accumulate_n([X, X]),
        "shape_n": lambda: tf.shape_n([X, IMAGES]),
    }


def _products(tf: Any) -> dict[str, Callable[[], Any]]:
    return {
        "tensordot": lambda: tf.tensordot(X, IMAGES[:3, :2], [[0, 1], [1, 0]]),
        "tensordot last": lambda: tf.tensordot(X, X[0].T, 1),
        "tensordot none": lambda: tf.tensordot(ROW[:2], ROW[:3], 0),
        "cross": lambda: tf.cross(X[..., :3], X[..., 1:]),
        "scalar_mul": lambda: tf.scalar_mul(2.0, X),
        "lgamma": lambda: tf.lgamma(POINTS),
        "digamma": lambda: tf.digamma(POINTS),
        "lbeta": lambda: tf.lbeta([[1.0, 2.0], [0.3, 4.0]]),
        "log_sigmoid": lambda: tf.log_sigmoid(ROW),
    }


def _volumes(tf: Any) -> dict[str, Callable[[], Any]]:
    x = IMAGES.reshape(1, 4, 4, 2, 4)
    w = np.sin(np.arange(3 * 2 * 2 * 4 * 2, dtype=np.float32)).reshape(3, 2, 2, 4, 2)
    up = np.sin(np.arange(3 * 2 * 3 * 2 * 4, dtype=np.float32)).reshape(3, 2, 3, 2, 4)
    return {
        "conv3d": lambda: tf.nn.conv3d(x, w, [1, 2, 1, 1, 1], "SAME"),
        "conv3d valid": lambda: tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], "VALID"),
        "conv3d slope": lambda: _slope(
            tf, lambda v: tf.nn.conv3d(x, v, [1, 2, 1, 1, 1], "SAME"), w
        ),
        "conv3d_transpose": lambda: tf.nn.conv3d_transpose(
            x, up, [1, 7, 8, 3, 2], [1, 2, 2, 2, 1], "SAME"
        ),
        "conv3d_transpose valid": lambda: tf.nn.conv3d_transpose(
            x[:, :2, :2], up, [1, 5, 4, 4, 2], [1, 2, 2, 1, 1], "VALID"
        ),
        "max_pool3d": lambda: tf.nn.max_pool3d(x, [1, 3, 2, 2, 1], [1, 2, 2, 1, 1], "SAME"),
        "avg_pool3d": lambda: tf.nn.avg_pool3d(x, [1, 3, 3, 2, 1], [1, 2, 1, 1, 1], "SAME"),
        "convolution": lambda: tf.nn.convolution(x[0], w[0], "SAME", [1, 2]),
        "convolution of volumes": lambda: tf.nn.convolution(x, w[:2], "VALID"),
        "max_pool_with_argmax": lambda: tf.nn.max_pool_with_argmax(
            IMAGES, [1, 2, 2, 1], [1, 2, 1, 1], "SAME"
        ),
    }


def _layers(tf: Any, x: Any) -> Any:
    ones = {"kernel_initializer": tf.ones_initializer()}
    y = tf.layers.conv3d(x, 2, [3, 2, 2], padding="same", **ones)
    z = tf.layers.conv3d_transpose(y, 1, 2, 2, **ones)
    return [tf.layers.max_pooling3d(z, 3, 2), tf.layers.average_pooling3d(z, 2, 2, "same")]


def _signals(tf: Any) -> dict[str, Callable[[], Any]]:
    signal, sound = tf.signal, np.sin(0.3 * np.arange(50, dtype=np.float32) ** 1.3)

    def numbers(x: Any) -> Any:
        return tf.complex(x, 2.0 * x[::-1])

    def both(x: Any) -> Any:
        return [tf.real(x), tf.imag(x)]

    def there_and_back() -> Any:
        window = signal.inverse_stft_window_fn(4)
        return signal.inverse_stft(signal.stft(sound, 16, 4), 16, 4, window_fn=window)

    return {
        "parts": lambda: [
            *both(tf.conj(numbers(ROW))),
            tf.abs(numbers(ROW)),
            tf.angle(numbers(ROW)),
        ],
        "fft": lambda: both(tf.fft(numbers(sound))),
        "fft of a prime": lambda: both(tf.fft(numbers(sound[:37]))),
        "ifft": lambda: both(tf.ifft(numbers(sound[:12]))),
        "fft2d": lambda: both(tf.fft2d(tf.complex(X, X))),
        "rfft": lambda: both(signal.rfft(X, [6])),
        "irfft": lambda: signal.irfft(tf.complex(X, 0.5 * X), [7]),
        "slope of a spectrum": lambda: _slope(
            tf, lambda x: tf.abs(signal.stft(x, 8, 3, pad_end=True)), sound
        ),
        "stft": lambda: both(signal.stft(sound, 16, 5, 32)),
        "there and back": there_and_back,
        "frame": lambda: signal.frame(X, 3, 2, pad_end=True),
        "windows": lambda: [signal.hann_window(5), signal.hamming_window(6, periodic=False)],
        "mel": lambda: signal.linear_to_mel_weight_matrix(4, 17, 8000),
        "mfcc": lambda: signal.mfccs_from_log_mel_spectrograms(X),
        "dct": lambda: signal.dct(X, norm="ortho"),
    }


def _small(tf: Any) -> dict[str, Callable[[], Any]]:
    math, other = tf.math, np.array([3, 5, 6, 1, 0, 2, 7, 4, 9], np.int32)
    bits = ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift")
    zeros = np.maximum(X, 0)
    return {
        "bits": lambda: [getattr(tf.bitwise, name)(other, NUMBERS) for name in bits],
        "invert": lambda: tf.bitwise.invert(other),
        "of zeros": lambda: [math.xlogy(zeros, zeros), math.xdivy(zeros, zeros)],
        "multiply_no_nan": lambda: math.multiply_no_nan(np.float32(np.inf) + X, X * 0),
        "slope of xlogy": lambda: _slope(tf, lambda x: math.xlogy(x, x + 1.0), zeros),
        "polyval": lambda: math.polyval([1.0, 2.0, 3.0], X),
        "growing": lambda: [math.is_strictly_increasing(ROW), math.is_non_decreasing([1, 1, 2])],
        "ensure_shape": lambda: tf.ensure_shape(X, [2, None, 4]),
        "unravel_index": lambda: tf.unravel_index([7, 3], [3, 4]),
        "tensor_scatter": lambda: [
            tf.tensor_scatter_add(ROW, [[1], [1]], [1.0, 2.0]),
            tf.tensor_scatter_sub(X, [[0, 1]], [[1.0, 2.0, 3.0, 4.0]]),
            tf.tensor_scatter_update(ROW, [[1], [4]], [1.0, 2.0]),
        ],
    }


def _slope(tf: Any, function: Callable[[Any], Any], x: Any) -> Any:
    given = tf.constant(x)
    return tf.gradients(tf.square(function(given)), given)[0]


def _moments(tf: Any) -> dict[str, Callable[[], Any]]:
    nn = tf.nn
    return {
        "sufficient_statistics": lambda: nn.sufficient_statistics(X, [0, 2], shift=0.5),
        "normalize_moments": lambda: nn.normalize_moments(
            *nn.sufficient_statistics(X, [1], keep_dims=True)
        ),
        "weighted_moments": lambda: nn.weighted_moments(X, [1], np.abs(X)),
        "reduce_std": lambda: tf.math.reduce_std(X, 1),
        "pairwise": lambda: tf.losses.mean_pairwise_squared_error(
            X[0], X[1], [[2.0], [0.0], [1.0]]
        ),
        "conv3d layers": lambda: _layers(tf, IMAGES.reshape(1, 4, 4, 2, 4)),
    }


def value(tf: Any, function: Callable[[], Any]) -> list[Any]:
    """[values, dtype, static shape] of each result."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = function()
        tensors = [t for t in made if t is not None] if isinstance(made, (list, tuple)) else [made]
        session.run(tf.global_variables_initializer())
        arrays = session.run(tensors)
        return [
            [np.asarray(a).tolist(), str(np.asarray(a).dtype), str(t.shape).replace("None", "?")]
            for a, t in zip(arrays, tensors, strict=True)
        ]


if __name__ == "__main__":
    import json
    import re

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    found = {k: value(tensorflow, f) for k, f in functions(tensorflow).items()}
    made = json.dumps({"tensorflow": tensorflow.__version__, **found})
    print(re.sub(r"-?\d+\.\d{8,}(e-?\d+)?", lambda m: f"{float(m[0]):.7g}", made))

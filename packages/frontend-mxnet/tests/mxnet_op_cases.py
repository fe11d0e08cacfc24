"""Calls of ops of the table, with what NumPy computes for them."""

from __future__ import annotations

from typing import Any

import numpy as np

random = np.random.default_rng(3)
X = random.standard_normal((2, 3, 4)).astype(np.float32)
M = random.standard_normal((3, 4)).astype(np.float32)
N = random.standard_normal((3, 4)).astype(np.float32)
IMAGES = random.standard_normal((2, 4, 5, 5)).astype(np.float32)
INDEX = np.array([2, 0, 1], np.float32)
LENGTHS = np.array([1, 2, 2], np.float32)


def softmax(x: Any, axis: int = -1) -> Any:
    """Positive numbers whose sum along the axis is 1."""
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x)."""
    return 1 / (1 + np.exp(-x))


def pooled(reduce: Any) -> Any:
    """Windows of 2 by 2, side by side, of the images without their last row and column."""
    return reduce(IMAGES[:, :, :4, :4].reshape(2, 4, 2, 2, 2, 2), (3, 5))


def convolved(w: Any) -> Any:
    """A convolution of the images by 3 by 3 windows."""
    views = np.lib.stride_tricks.sliding_window_view(IMAGES, (3, 3), (2, 3))
    return np.einsum("ncpqij,ocij->nopq", views, w)


def normalized(x: Any, axes: tuple[int, ...]) -> Any:
    """Mean 0 and variance 1 over the axes."""
    middle = x - x.mean(axes, keepdims=True)
    return middle / np.sqrt((middle**2).mean(axes, keepdims=True) + 1e-3)


W = random.standard_normal((6, 4, 3, 3)).astype(np.float32)
D = random.standard_normal((5, 12)).astype(np.float32)
ZERO4, ONE4, ONE6 = np.zeros(4, np.float32), np.ones(4, np.float32), np.ones(6, np.float32)
MASK = np.stack([X[0], np.where((LENGTHS > 1)[:, None], X[1], 0)])
SQUARES = np.pad(IMAGES**2, ((0, 0), (1, 1), (0, 0), (0, 0)))
AROUND = sum(SQUARES[:, i : i + 4] for i in range(3))

# (op, inputs, parameters, answer)
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("FullyConnected", (X, D), {"num_hidden": 5, "no_bias": True}, X.reshape(2, 12) @ D.T),
    ("Convolution", (IMAGES, W, ONE6), {"kernel": (3, 3), "num_filter": 6}, convolved(W) + 1),
    ("Pooling", (IMAGES,), {"kernel": (2, 2), "stride": (2, 2)}, pooled(np.max)),
    ("Pooling", (IMAGES,), {"kernel": 2, "stride": 2, "pool_type": "avg"}, pooled(np.mean)),
    ("Pooling", (IMAGES,), {"kernel": 2, "stride": 2, "pool_type": "sum"}, pooled(np.sum)),
    ("Pooling", (IMAGES,), {"global_pool": True}, IMAGES.max((2, 3), keepdims=True)),
    ("BatchNorm", (IMAGES, ONE4, ZERO4, ZERO4, ONE4), {}, IMAGES / np.sqrt(1.001)),
    ("Activation", (X,), {"act_type": "softrelu"}, np.log1p(np.exp(X))),
    ("LeakyReLU", (X,), {"slope": 0.1}, np.where(X > 0, X, 0.1 * X)),
    ("LeakyReLU", (X,), {"act_type": "elu", "slope": 1.0}, np.where(X > 0, X, np.expm1(X))),
    ("LeakyReLU", (IMAGES, ONE4 / 2), {"act_type": "prelu"}, np.where(IMAGES > 0, 1, 0.5) * IMAGES),
    ("Dropout", (X,), {"p": 0.5}, X),
    ("Embedding", (INDEX, M), {"input_dim": 3, "output_dim": 4}, M[[2, 0, 1]]),
    ("LRN", (IMAGES,), {"nsize": 3}, IMAGES / (2 + 1e-4 / 3 * AROUND) ** 0.75),
    ("L2Normalization", (M,), {}, M / np.sqrt((M**2).sum(1, keepdims=True))),
    ("InstanceNorm", (IMAGES, ONE4, ZERO4), {}, normalized(IMAGES, (2, 3))),
    ("UpSampling", (IMAGES,), {"scale": 2}, IMAGES.repeat(2, 2).repeat(2, 3)),
    ("Reshape", (X,), {"shape": (0, -1)}, X.reshape(2, 12)),
    ("Reshape", (X,), {"shape": (-3, -4, 2, -1)}, X.reshape(6, 2, 2)),
    ("Reshape", (X,), {"shape": (-4, 1, 2, -2)}, X.reshape(1, 2, 3, 4)),
    ("Reshape", (X,), {"shape": (-1, 0), "reverse": True}, X.reshape(6, 4)),
    ("Flatten", (X,), {}, X.reshape(2, 12)),
    ("transpose", (X,), {}, X.T),
    ("transpose", (X,), {"axes": (1, 0, 2)}, X.transpose(1, 0, 2)),
    ("SwapAxis", (X,), {"dim1": 0, "dim2": 2}, X.swapaxes(0, 2)),
    ("expand_dims", (X,), {"axis": 1}, X[:, None]),
    ("Concat", (M, N), {"dim": 0}, np.concatenate([M, N])),
    ("stack", (M, N), {"axis": 1}, np.stack([M, N], 1)),
    ("slice", (X,), {"begin": (0, 1), "end": (None, 3)}, X[:, 1:3]),
    ("slice_axis", (X,), {"axis": 2, "begin": 1, "end": -1}, X[:, :, 1:-1]),
    ("slice_like", (X, M[:1, :2]), {"axes": (1,)}, X[:, :2]),
    ("reverse", (X,), {"axis": 1}, X[:, ::-1]),
    ("tile", (M,), {"reps": (2, 1, 2)}, np.tile(M, (2, 1, 2))),
    ("repeat", (M,), {"repeats": 2, "axis": 1}, M.repeat(2, 1)),
    ("Pad", (IMAGES,), {"pad_width": (0, 0, 0, 0, 1, 2, 0, 1), "constant_value": 7},
     np.pad(IMAGES, ((0, 0), (0, 0), (1, 2), (0, 1)), constant_values=7)),
    ("broadcast_to", (M[:1],), {"shape": (3, 0)}, np.broadcast_to(M[:1], (3, 4))),
    ("broadcast_axis", (M[:1],), {"axis": 0, "size": 3}, np.broadcast_to(M[:1], (3, 4))),
    ("take", (M, np.array([5.0, -1], np.float32)), {}, M[[2, 0]]),
    ("take", (M, np.array([4.0, -1], np.float32)), {"mode": "wrap"}, M[[1, 2]]),
    ("pick", (M, INDEX), {}, M[range(3), [2, 0, 1]]),
    ("pick", (M, INDEX), {"keepdims": True}, M[range(3), [2, 0, 1]][:, None]),
    ("one_hot", (INDEX,), {"depth": 4, "on_value": 2.0}, 2 * np.eye(4)[[2, 0, 1]]),
    ("gather_nd", (M, np.array([[0, 2], [3, 1]], np.float32)), {}, M[[0, 2], [3, 1]]),
    ("dot", (X, M.T), {}, X @ M.T),
    ("dot", (M, N), {"transpose_a": True}, M.T @ N),
    ("batch_dot", (X, X), {"transpose_b": True}, X @ X.transpose(0, 2, 1)),
    ("elemwise_add", (M, N), {}, M + N),
    ("broadcast_mul", (X, M), {}, X * M),
    ("broadcast_greater", (M, N), {}, (M > N).astype(np.float32)),
    ("_rminus_scalar", (M,), {"scalar": 2.0}, 2 - M),
    ("broadcast_hypot", (M, N), {}, np.hypot(M, N)),
    ("sum", (X,), {}, X.sum().reshape(1)),
    ("sum", (X,), {"axis": 0, "exclude": True}, X.sum((1, 2))),
    ("mean", (X,), {"axis": (0, 2), "keepdims": True}, X.mean((0, 2), keepdims=True)),
    ("max", (X,), {"axis": 1}, X.max(1)),
    ("prod", (M,), {"axis": 1}, M.prod(1)),
    ("norm", (X,), {}, np.sqrt((X**2).sum()).reshape(1)),
    ("argmax", (M,), {"axis": 1}, M.argmax(1)),
    ("argmin", (M,), {"axis": 0}, M.argmin(0)),
    ("sort", (M,), {"is_ascend": False}, -np.sort(-M)),
    ("argsort", (M,), {}, np.argsort(M)),
    ("topk", (M,), {"k": 2}, np.argsort(-M)[:, :2]),
    ("topk", (M,), {"k": 2, "ret_typ": "value"}, -np.sort(-M)[:, :2]),
    ("topk", (M,), {"k": 1, "ret_typ": "mask"}, np.eye(4)[M.argmax(1)]),
    ("softmax", (X,), {"axis": 1}, softmax(X, 1)),
    ("log_softmax", (X,), {}, np.log(softmax(X))),
    ("SoftmaxActivation", (X,), {"mode": "channel"}, softmax(X, 1)),
    ("SoftmaxOutput", (M, INDEX), {}, softmax(M)),
    ("LogisticRegressionOutput", (M, N), {}, sigmoid(M)),
    ("MakeLoss", (M,), {}, M),
    ("softmax_cross_entropy", (M, INDEX), {},
     -np.log(softmax(M)[range(3), [2, 0, 1]]).sum().reshape(1)),
    ("SequenceMask", (X, LENGTHS), {"use_sequence_length": True}, MASK),
    ("SequenceLast", (X, LENGTHS), {"use_sequence_length": True},
     np.stack([X[0, 0], X[1, 1], X[1, 2]])),
    ("SequenceReverse", (X, LENGTHS), {"use_sequence_length": True},
     np.stack([[X[0, 0], X[1, 1], X[1, 2]], [X[1, 0], X[0, 1], X[0, 2]]])),
    ("SequenceLast", (X,), {}, X[-1]),
    ("clip", (X,), {"a_min": -0.5, "a_max": 0.5}, X.clip(-0.5, 0.5)),
    ("where", (INDEX, M, N), {}, np.where(INDEX[:, None] != 0, M, N)),
    ("Cast", (X,), {"dtype": "int32"}, X.astype(np.int32)),
    ("add_n", (M, N, M), {}, M + N + M),
    ("smooth_l1", (M,), {"scalar": 1.0}, np.where(abs(M) < 1, M**2 / 2, abs(M) - 0.5)),
    ("cbrt", (M,), {}, np.cbrt(M)),
    ("log2", (abs(M),), {}, np.log2(abs(M))),
    ("arctan", (M,), {}, np.arctan(M)),
    ("cumsum", (M,), {"axis": 1}, M.cumsum(1)),
    ("nansum", (np.where(M > 0, M, np.nan),), {"axis": 1}, np.where(M > 0, M, 0).sum(1)),
]  # fmt: skip

"""Losses: gradients by central differences, CTC by all paths, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import check_function, numbers

import byparts_eager as bp
import byparts_nn as nn
import byparts_opset as ops
from byparts_graph_ir import GraphError

X, Y = numbers(4, 3), numbers(4, 3, seed=1)
LABELS = bp.asarray(np.array([0, 2, 1, 2], np.int32))
LOSSES: dict[str, Callable[[Any], Any]] = {
    "cross_entropy": lambda x: nn.cross_entropy(x, LABELS),
    "cross_entropy, smooth": lambda x: nn.cross_entropy(x, LABELS, smoothing=0.2, ignore_index=2),
    "cross_entropy, weights": lambda x: nn.cross_entropy(x, LABELS, weights=Y[0] * Y[0]),
    "cross_entropy, probabilities": lambda x: nn.cross_entropy(x, ops.softmax(Y), smoothing=0.1),
    "binary_cross_entropy": lambda x: nn.binary_cross_entropy(x, ops.sigmoid(Y)),
    "mse": lambda x: nn.mse(x, Y),
    "l1": lambda x: nn.l1(x, Y),
    "huber": lambda x: nn.huber(x, Y, delta=0.5),
    "kl": lambda x: nn.kl(ops.log_softmax(x), ops.softmax(Y)),
    "hinge": lambda x: nn.hinge(x, ops.sign(Y)),
    "cosine_distance": lambda x: nn.cosine_distance(x, Y, ops.sign(Y)[:, 0]),
    "info_nce": lambda x: nn.info_nce(x, Y, temperature=0.5),
    "info_nce, one way": lambda x: nn.info_nce(x, Y, symmetric=False),
    "triplet": lambda x: nn.triplet(x, Y, Y * 2, margin=3.0),
    "ctc": lambda x: nn.ctc(ops.reshape(x, (1, 4, 3)), bp.asarray(np.array([[1, 1]]))),
}


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_are_central_differences(name: str) -> None:
    """By the outputs of a network."""
    check_function(LOSSES[name], X)


def by_all_paths(scores: Any, label: list[int]) -> float:
    """-log of the sum of the probabilities of every path whose repeats and blanks merge to it."""
    time, classes = scores.shape
    p = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    paths = itertools.product(range(classes), repeat=time)
    ours = [path for path in paths if [k for k, _ in itertools.groupby(path) if k] == label]
    chances = [np.prod(p[np.arange(time), path]) for path in ours]
    return float(-np.log(np.sum(chances))) if chances else np.inf


ROWS = {
    "different": [1, 2],
    "repeats": [1, 1, 2],
    "as many steps as it takes": [2, 2, 2],
    "one": [2],
    "none": [],
    "too many": [1, 1, 1, 1],
}


@pytest.mark.parametrize("name", ROWS)
def test_ctc_sums_all_paths(name: str) -> None:
    """Five steps suffice for three equal labels: T >= L + repeats, not L' = 2 L + 1 <= T."""
    label, scores = ROWS[name], numbers(1, 5, 3)
    padded = np.array([(label + [1] * 4)[:4]])
    loss: Any = nn.ctc(scores, bp.asarray(padded), lengths=bp.asarray(np.array([len(label)])))

    np.testing.assert_allclose(float(loss), by_all_paths(scores.numpy()[0], label), rtol=1e-12)


def test_ctc_of_a_batch_is_that_of_each_row() -> None:
    """Each with its own number of steps and labels; compiled as eagerly, in f32."""
    scores = bp.asarray(numbers(3, 6, 4).numpy().astype(np.float32))
    labels, lengths, times = [[1, 1, 3], [2, 0, 0], [3, 2, 0]], [3, 1, 2], [6, 2, 5]
    given = [bp.asarray(np.array(x)) for x in (labels, times, lengths)]

    def loss(*args: Any) -> Any:
        return nn.ctc(*args, reduction="none")

    wanted = [
        by_all_paths(scores.numpy()[i, : times[i]].astype(np.float64), labels[i][: lengths[i]])
        for i in range(3)
    ]
    np.testing.assert_allclose(loss(scores, *given), wanted, rtol=1e-5)
    np.testing.assert_allclose(bp.compile(loss)(scores, *given), wanted, rtol=1e-5)


def test_ctc_of_a_row_that_does_not_fit_has_no_gradient() -> None:
    """Infinite, and 0 where the others have theirs."""
    labels = bp.asarray(np.array([[1, 1, 1], [1, 2, 1]]))
    loss, dx = bp.value_and_grad(lambda x: nn.ctc(x, labels, reduction="sum"))(numbers(2, 4, 3))

    assert float(loss) == np.inf
    assert not dx[0].numpy().any()
    assert np.isfinite(dx.numpy()).all()


def test_labels_are_integers() -> None:
    """Labels of i32 or i64 are classes; floats are probabilities, and of another shape refused."""
    for dtype in ("i32", "i64"):
        labels = bp.asarray(LABELS, dtype=dtype)
        np.testing.assert_array_equal(nn.cross_entropy(X, labels), nn.cross_entropy(X, LABELS))
    with pytest.raises(GraphError, match=r"f64\[4,3\]"):
        nn.cross_entropy(X, bp.asarray([0.0, 2.0, 1.0, 2.0], dtype="f64"))


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a column beside a row": (lambda: nn.mse(X[:, :1], Y[:, 0]), r"f64\[4,1\] beside f64\[4\]"),
    "other sizes": (lambda: nn.l1(X, Y[:2]), r"l1: f64\[4,3\] beside f64\[2,3\]"),
    "smoothing": (lambda: nn.cross_entropy(X, LABELS, smoothing=1.0), "smoothing is 1.0"),
    "weights of probabilities": (
        lambda: nn.cross_entropy(X, ops.softmax(Y), weights=Y[0]),
        r"labels are probabilities, f64\[4,3\]",
    ),
    "a reduction": (lambda: nn.mse(X, Y, reduction="average"), "'average'; it is 'mean', 'sum'"),
    "labels of ctc": (lambda: nn.ctc(X, LABELS), r"\[n, time, classes\] and \[n, label\]"),
    "a temperature": (lambda: nn.info_nce(X, Y, temperature=0.0), "temperature is 0.0"),
    "a metric of a column": (
        lambda: nn.mean_absolute_error(np.ones((4, 1)), np.ones(4)),
        r"float64\[4, 1\] and targets float64\[4\]; they are numbers, of one shape",
    ),
    "a metric of one class": (lambda: nn.accuracy(np.ones(4), np.ones(4)), "targets float64"),
    "pairs": (lambda: nn.info_nce(X, Y[:2]), r"f64\[4,3\] beside f64\[2,3\]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused(name: str) -> None:
    """With its types or numbers."""
    call, words = REFUSED[name]

    with pytest.raises(GraphError, match=words):
        call()

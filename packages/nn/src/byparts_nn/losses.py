"""Losses: a number that says how wrong outputs are.  The mean over all examples by default.

`reduction` is "mean", "sum" or "none" (one number for each example) everywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

import byparts_opset as ops
from byparts_eager import asarray
from byparts_graph_ir import INTEGERS, ArgumentError, ShapeError, Value
from byparts_graph_ir.contract import checked

F = TypeVar("F", bound=Callable[..., Any])


def on_values(loss: F) -> F:
    """A loss that takes arrays of NumPy, too, and refuses what is no array by a sentence."""
    function = checked(loss)

    @functools.wraps(loss)
    def run(*args: Any, **keywords: Any) -> Any:
        given = {k: asarray(x) if isinstance(x, np.ndarray) else x for k, x in keywords.items()}
        return function(*[asarray(x) if isinstance(x, np.ndarray) else x for x in args], **given)

    return run  # type: ignore[return-value]  # it takes what the loss takes


@on_values
def cross_entropy(
    logits: Value,
    labels: Value,
    *,
    smoothing: float = 0.0,
    ignore_index: int | None = None,
    weights: Value | None = None,
    reduction: str = "mean",
) -> Value:
    """-log of the softmax's probability of the label.

    Args:
        logits: [..., classes].
        labels: classes, i32 or i64 [...]; or probabilities of them, [..., classes].
        smoothing: this part of a label is spread over all classes alike.
        ignore_index: labels that are this number count nothing, and are not in the mean.
        weights: [classes], how much each class counts; the mean is over the weights then.
        reduction: "mean", "sum" or "none": [...].

    Raises:
        ArgumentError: `ignore_index` or `weights` beside labels that are probabilities.
    """
    if not 0 <= smoothing < 1:
        raise ArgumentError(f"cross_entropy: smoothing is {smoothing}, which is not in [0, 1)")
    if labels.type.dtype not in INTEGERS:
        if ignore_index is not None or weights is not None:
            raise ArgumentError(
                f"cross_entropy: labels are probabilities, {labels.type}; ignore_index and weights "
                "are for labels that are numbers of classes"
            )
        if smoothing:
            labels = labels * (1 - smoothing) + smoothing / _classes(logits)
        return reduced(ops.softmax_cross_entropy(logits, labels), reduction)
    known = None
    if ignore_index is not None:
        known = ops.not_equal(labels, ignore_index)
        labels = ops.where(known, labels, ops.zeros_like(labels))
    loss = ops.sparse_softmax_cross_entropy(logits, labels)
    counts = None if weights is None else ops.gather(weights, labels)
    if counts is not None:
        loss = loss * counts
    if smoothing:
        loss = loss * (1 - smoothing)
        scores = ops.log_softmax(logits)
        scores = scores if weights is None else scores * weights
        loss = loss - ops.sum(scores, -1) * (smoothing / _classes(logits))
    if known is not None:
        present = ops.cast(known, logits.type.dtype)
        counts = present if counts is None else counts * present
        loss = ops.where(known, loss, ops.zeros_like(loss))
    if counts is None or reduction != "mean":
        return reduced(loss, reduction)
    return ops.sum(loss) / ops.sum(counts)


def _classes(logits: Value) -> int:
    classes = (logits.type.shape or (None,))[-1]
    if not isinstance(classes, int):
        raise ShapeError(f"cross_entropy: logits are {logits.type}; the number of classes is open")
    return classes


@on_values
def binary_cross_entropy(logits: Value, labels: Value | float, *, reduction: str = "mean") -> Value:
    """-log of the sigmoid's probability of labels in [0, 1], element by element; no overflow."""
    return reduced(ops.softplus(logits) - logits * labels, reduction)


@on_values
def mse(x: Value, y: Value, *, reduction: str = "mean") -> Value:
    """(x - y)², element by element."""
    return reduced(ops.squared_difference(x, _alike("mse", x, y)), reduction)


@on_values
def l1(x: Value, y: Value, *, reduction: str = "mean") -> Value:
    """|x - y|, element by element."""
    return reduced(ops.abs(x - _alike("l1", x, y)), reduction)


@on_values
def huber(x: Value, y: Value, *, delta: float = 1.0, reduction: str = "mean") -> Value:
    """(x - y)² / 2 where |x - y| < delta, and from there on straight, with slope delta."""
    distance = ops.abs(x - _alike("huber", x, y))
    near = ops.minimum(distance, delta)
    return reduced(near * (distance - near * 0.5), reduction)


@on_values
def kl(log_q: Value, p: Value, *, reduction: str = "mean") -> Value:
    """sum p log(p / q) over the last axis: how far q is from p.

    Args:
        log_q: logarithms of probabilities, as `ops.log_softmax` gives them: [..., classes].
        p: probabilities, 0 too: [..., classes].
        reduction: of what is left, [...].
    """
    some = ops.greater(p, 0)
    log_p = ops.log(ops.where(some, p, ops.ones_like(p)))
    return reduced(ops.sum(p * (log_p - _alike("kl", log_p, log_q)), -1), reduction)


@on_values
def hinge(scores: Value, labels: Value, *, margin: float = 1.0, reduction: str = "mean") -> Value:
    """max(0, margin - score * label), element by element, for labels of -1 and 1."""
    return reduced(ops.relu(margin - scores * _alike("hinge", scores, labels)), reduction)


@on_values
def cosine_distance(
    x: Value,
    y: Value,
    labels: Value | None = None,
    *,
    margin: float = 0.0,
    reduction: str = "mean",
) -> Value:
    """1 - cos of the angle of two rows; where the label is -1, what the cos is over `margin`.

    Args:
        x: [..., width].
        y: [..., width].
        labels: 1 or -1, in the dtype of x, [...]; all 1 by default.
        margin: for pairs that should differ.
        reduction: of what is left, [...].
    """
    likeness = cosine_similarity(x, y)
    loss = 1 - likeness
    if labels is not None:
        loss = ops.where(ops.greater(labels, 0), loss, ops.relu(likeness - margin))
    return reduced(loss, reduction)


@on_values
def cosine_similarity(x: Value, y: Value, *, epsilon: float = 1e-8) -> Value:
    """The cos of the angle of two rows, [..., width] each: [...]; rows of zeros give 0."""
    lengths = ops.sum(ops.square(x), -1) * ops.sum(
        ops.square(_alike("cosine_similarity", x, y)), -1
    )
    return ops.sum(x * y, -1) * ops.rsqrt(ops.maximum(lengths, epsilon**2))


def reduced(losses: Value, reduction: str) -> Value:
    """Apply a reduction to losses.

    Raises:
        ArgumentError: it is none of the three.
    """
    if reduction == "mean":
        return ops.mean(losses)
    if reduction == "sum":
        return ops.sum(losses)
    if reduction == "none":
        return losses
    raise ArgumentError(f"reduction: {reduction!r:.60}; it is 'mean', 'sum' or 'none'")


def _alike(name: str, x: Value, y: Value) -> Value:
    """y, which has the shape of x: [n] beside [n, 1] would broadcast to [n, n] in silence."""
    a, b = x.type.shape, y.type.shape
    if a is not None and b is not None and len(a) != len(b):
        raise ShapeError(f"{name}: {x.type} beside {y.type}; the two have one shape")
    for m, n in zip(a or (), b or (), strict=True):
        if isinstance(m, int) and isinstance(n, int) and m != n:
            raise ShapeError(f"{name}: {x.type} beside {y.type}; the two have one shape")
    return y

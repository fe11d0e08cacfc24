"""Connectionist temporal classification (Graves et al. 2006): labels without times.

A network gives a class or a blank at each step; the label of a path is the path with repeats merged
and blanks taken out.  The loss is -log of the sum of the probabilities of all paths of the label,
which a recursion over the label with blanks between (2 * length + 1 places) sums exactly.  It runs
in logarithms, as one loop over time; the gradient is that of the loop.
"""

from __future__ import annotations

import numpy as np

import byparts_opset as ops
from byparts_eager import scan
from byparts_graph_ir import INTEGERS, ShapeError, Value
from byparts_nn.losses import on_values, reduced

# The logarithm of no chance: e to it is 0, and unlike of infinities its differences are numbers.
NEVER = -1e30


@on_values
def ctc(
    logits: Value,
    labels: Value,
    times: Value | None = None,
    lengths: Value | None = None,
    *,
    blank: int = 0,
    reduction: str = "mean",
) -> Value:
    """-log of the probability of each row of labels, over all paths that give it.

    A row needs a step for each label, and one more between equal neighbours; with fewer steps no
    path gives it, and its loss is infinite with a gradient of 0.

    Args:
        logits: [n, time, classes], before the softmax.
        labels: [n, label], integers without blanks.
        times: [n], how many steps of each example count; all by default.
        lengths: [n], how many labels of each row count; all by default.
        blank: the class that is no label.
        reduction: "mean", "sum" or "none": [n].
    """
    n, time, classes = _sizes(logits, labels)
    places = 2 * labels.type.dims[1] + 1
    times = ops.fill(time, "i64", (n,)) if times is None else ops.cast(times, "i64")
    lengths = ops.fill(places // 2, "i64", (n,)) if lengths is None else ops.cast(lengths, "i64")
    path = _with_blanks(ops.cast(labels, "i64"), lengths, blank)
    emitted = _emitted(ops.log_softmax(logits), path, classes)  # [time, n, places]
    two_back = ops.not_equal(path[:, 2:], path[:, :-2])  # a blank between equal labels must stay
    dtype = logits.type.dtype
    no = ops.fill(NEVER, dtype, (n, 2))
    # What passing over a blank adds.
    skips = ops.where(two_back, ops.fill(0.0, dtype, (n, places - 2)), NEVER)

    def step(chances: Value, row: tuple[Value, Value]) -> tuple[Value, None]:
        emits, counts = row
        stayed, moved = chances, ops.concat((no[:, :1], chances[:, :-1]), 1)
        passed = ops.concat((no, chances[:, :-2] + skips), 1)
        ways = ops.logsumexp(ops.stack((stayed, moved, passed), 0), 0) + emits
        return ops.where(ops.expand_dims(counts, 1), ways, chances), None

    first = ops.concat((emitted[0][:, :2], ops.fill(NEVER, dtype, (n, places - 2))), 1)
    steps = ops.expand_dims(ops.arange(1, time, dtype="i64"), 1)
    chances, _ = scan(step, first, (emitted[1:], ops.less(steps, ops.expand_dims(times, 0))))
    ends = ops.expand_dims(lengths, 1) * 2 - ops.constant(np.arange(places, dtype=np.int64))
    last = ops.logical_and(ops.greater_equal(ends, 0), ops.less_equal(ends, 1))
    total = ops.logsumexp(ops.where(last, chances, NEVER), 1)
    loss = ops.where(ops.less(total, NEVER / 2), ops.fill_like(total, np.inf), -total)
    return reduced(loss, reduction)


def _sizes(logits: Value, labels: Value) -> tuple[int, int, int]:
    given = f"logits are {logits.type} and labels {labels.type}"
    if len(logits.type.shape or ()) != 3 or len(labels.type.shape or ()) != 2:
        raise ShapeError(f"ctc: {given}; they are [n, time, classes] and [n, label]")
    if labels.type.dtype not in INTEGERS:
        raise ShapeError(f"ctc: {given}; labels are numbers of classes, of an integer type")
    n, time, classes = logits.type.dims
    if labels.type.dims[0] != n or not time or not labels.type.dims[1]:
        raise ShapeError(f"ctc: {given}; both have one n, and there are steps and labels")
    return n, time, classes


def _with_blanks(labels: Value, lengths: Value, blank: int) -> Value:
    """[n, 2 * label + 1]: a blank before, between and after the labels; blanks for what is over."""
    n, count = labels.type.dims
    there = ops.less(ops.constant(np.arange(count)), ops.expand_dims(lengths, 1))
    labels = ops.where(there, labels, ops.fill_like(labels, blank))
    pairs = ops.stack((ops.fill_like(labels, blank), labels), 2)
    return ops.concat((ops.reshape(pairs, (n, 2 * count)), ops.fill(blank, "i64", (n, 1))), 1)


def _emitted(scores: Value, path: Value, classes: int) -> Value:
    """[n, time, classes] and [n, places] -> the scores of the path's classes, [time, n, places]."""
    n, time, _ = scores.type.dims
    rows = ops.reshape(ops.transpose(scores, (1, 0, 2)), (time, n * classes))
    starts = ops.constant(np.arange(n, dtype=np.int64)[:, None] * classes)
    return ops.gather(rows, path + starts, 1)

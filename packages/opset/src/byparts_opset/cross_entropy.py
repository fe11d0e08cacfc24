"""Cross entropy of softmax(logits) against labels, one loss for each example.

Each op has a second output, the *residual* d loss / d logits = softmax * sum(labels) - labels.  The
alternatives were to recompute the softmax in the gradient, or to keep log(sum(exp(logits))):

- memory is the same for all three: logits have no reader after this op, so the residual is written
  over them (`inplace`), and the gradient over the residual;
- the gradient is then one multiplication.  A recomputed softmax costs five more calls (10 of the
  76 microseconds of an MNIST softmax step in NumPy) and a pass of exp over large vocabularies;
- the kept logarithm loses digits: its rounding error, at the size of the logits, is a relative
  error of every probability (6e-4 for logits of 10^4 in f32; useless in f16);
- integer labels never become a one-hot matrix.

The price: a program that only evaluates the loss also computes the residual.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    FLOATS,
    INTEGERS,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_opset.broadcast import meet_dims, meet_types, same_dtype
from byparts_opset.domain import between, index_into
from byparts_opset.dtypes import Array, narrow, require
from byparts_opset.elementwise import Binary, computed, summed_back
from byparts_opset.half import in_f32, widened
from byparts_opset.index import InRange, check_range

LEAST_LOG = -100.0  # of a probability of 0; torch has the same number
LEAST_SPREAD = 1e-12  # of p * (1 - p), in the gradient; likewise


class SoftmaxCrossEntropy(Op):
    """loss = -sum(labels * log(softmax(logits)), -1); residual = d loss / d logits.

    logits, labels, residual: [..., classes]; loss: [...].  A label of 0 counts nothing, also where
    the softmax is 0.  Labels need not sum to 1: the residual is softmax * sum(labels) - labels.
    With `sums_to_one` it is softmax - labels, as TensorFlow's, whatever labels sum to.
    """

    sums_to_one: bool = False

    inplace = ((0, 1),)

    def infer(self, logits: TensorType, labels: TensorType) -> Types:
        same_dtype(self.name, logits, labels)
        both = meet_types(self.name, require(self.name, logits, FLOATS), labels)
        return (_losses(self, both), both)

    def infer_unranked(self, logits: TensorType, labels: TensorType) -> Types:
        same_dtype(self.name, logits, labels)
        both = meet_types(self.name, require(self.name, logits, FLOATS), labels)
        return self.infer(both, both) if both.shape is not None else (both, both)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        logits, labels = inputs
        both = meet_types(self.name, meet_types(self.name, logits, labels), outputs[1])
        return (both, TensorType(labels.dtype, both.shape))

    def evaluate(self, logits: Array, labels: Array) -> tuple[Array, ...]:
        log_p, counts = _log_softmax(logits), labels.astype(np.float64)
        with np.errstate(all="ignore"):
            loss = -np.where(counts == 0, 0, counts * log_p).sum(axis=-1)
            total = 1 if self.sums_to_one else counts.sum(axis=-1, keepdims=True)
            residual = np.exp(log_p) * total - counts
            return (narrow(loss, logits.dtype), narrow(residual, logits.dtype))

    def gradient(self, node: Node, dloss: Value, dresidual: Value) -> tuple[Value | None, ...]:
        logits, labels = node.inputs
        dloss = ops.expand_dims(dloss, -1)
        dlogits, dlabels = node.outputs[1] * dloss, -ops.log_softmax(logits) * dloss
        if not ops.is_zero(dresidual):
            p = ops.softmax(logits)
            slope = ops.sum(p * dresidual, (-1,), keepdims=True)
            if self.sums_to_one:
                return (dlogits + p * (dresidual - slope), dlabels - dresidual)
            total = ops.sum(labels, (-1,), keepdims=True)
            dlogits = dlogits + total * p * (dresidual - slope)
            dlabels = dlabels + (slope - dresidual)
        return (dlogits, dlabels)

    @in_f32
    def decompose(self, logits: Value, labels: Value) -> tuple[Value, ...] | None:
        terms = ops.select(ops.equal(labels, 0.0), 0.0, labels * ops.log_softmax(logits))
        p = ops.softmax(logits)
        residual = (p if self.sums_to_one else p * ops.sum(labels, (-1,), keepdims=True)) - labels
        return (-ops.sum(terms, (-1,)), residual)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((3, 4), (5,), (2, 3, 4), (0, 3)):
            x = TensorType("f32", shape)
            yield Sample(cls(), (x, x), ((-2, 2), (0.1, 1)))
        yield Sample(cls(sums_to_one=True), (x, x), ((-2, 2), (0.1, 1)))


class SparseSoftmaxCrossEntropy(Op):
    """loss = -log(softmax(logits))[label]; residual = d loss / d logits = softmax - one_hot(label).

    logits, residual: [..., classes]; labels: integers [...]; loss: [...].  A label that is no class
    is a `GraphError` when the program runs, also where this op is decomposed (`InRange`).
    """

    inplace = ((0, 1),)

    def infer(self, logits: TensorType, labels: TensorType) -> Types:
        _check_integers(self, labels)
        loss = _examples(self, require(self.name, logits, FLOATS), labels)
        return (loss, _joined(loss, logits))

    def infer_unranked(self, logits: TensorType, labels: TensorType) -> Types:
        _check_integers(self, labels)
        if logits.shape is not None:
            return self.infer(logits, TensorType(labels.dtype, logits.shape[:-1]))
        classes = TensorType(logits.dtype, None if labels.shape is None else (*labels.shape, None))
        return (TensorType(logits.dtype, labels.shape), require(self.name, classes, FLOATS))

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        logits = meet_types(self.name, inputs[0], outputs[1])
        if logits.shape is None:
            return (logits, meet_types(self.name, inputs[1], outputs[0]))
        labels = meet_types(self.name, inputs[1], TensorType(inputs[1].dtype, logits.shape[:-1]))
        labels = meet_types(self.name, labels, outputs[0])
        return (_joined(labels, logits), labels)

    def domain(self, logits: Array, labels: Array) -> tuple[Array, ...]:
        return (logits, index_into(logits.shape[-1], labels))

    def evaluate(self, logits: Array, labels: Array) -> tuple[Array, ...]:
        check_range(self.name, labels, logits.shape[-1])
        log_p, at = _log_softmax(logits), labels[..., None].astype(np.int64)
        residual = np.exp(log_p) - (np.arange(logits.shape[-1]) == at)
        loss = -np.take_along_axis(log_p, at, axis=-1)[..., 0]
        return (narrow(loss, logits.dtype), narrow(residual, logits.dtype))

    def gradient(self, node: Node, dloss: Value, dresidual: Value) -> tuple[Value | None, ...]:
        dlogits = node.outputs[1] * ops.expand_dims(dloss, -1)
        if not ops.is_zero(dresidual):
            p = ops.softmax(node.inputs[0])
            slope = ops.sum(p * dresidual, (-1,), keepdims=True)
            dlogits = dlogits + p * (dresidual - slope)
        return (dlogits, None)

    @in_f32
    def decompose(self, logits: Value, labels: Value) -> tuple[Value, ...] | None:
        classes = logits.type.shape[-1] if logits.type.shape else None
        if not isinstance(classes, int):
            return None
        labels = InRange(classes, self.name)(labels)
        if classes == 0:  # sums of nothing would not read the labels
            return (ops.gather(ops.zeros((1,), logits.type.dtype), labels), logits)
        hot = ops.one_hot(labels, classes, dtype=logits.type.dtype)
        terms = ops.select(ops.equal(hot, 0.0), 0.0, ops.log_softmax(logits))
        return (-ops.sum(terms, (-1,)), ops.softmax(logits) - hot)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((3, 4), (5,), (2, 3, 4), (0, 3)):
            types = (TensorType("f32", shape), TensorType("i32", shape[:-1]))
            yield Sample(cls(), types, ((-2, 2), (0, shape[-1])))


class BinaryCrossEntropy(Binary):
    """z = -(t * log p + (1 - t) * log(1 - p)), with logarithms held at -100 and above.

    dp = dz * (p - t) / max(p * (1 - p), 1e-12), as in torch: 0 where p = t = 0 or p = t = 1.
    dt = dz * (log(1 - p) - log p), of the same logarithms.
    """

    takes = FLOATS
    smooth = ((0.1, 0.9), (0.1, 0.9))

    def domain(self, p: Array, t: Array) -> tuple[Array, ...]:
        return (between(0, 1, p), between(0, 1, t))

    def evaluate(self, p: Array, t: Array) -> tuple[Array, ...]:
        def loss(p: Array, t: Array) -> Array:
            sure, unsure = np.log(p), np.log1p(-p)
            least = p.dtype.type(LEAST_LOG)
            z: Array = (t - 1) * np.maximum(unsure, least) - t * np.maximum(sure, least)
            return z

        return computed(loss, p, t)

    def gradient(self, node: Node, dz: Value) -> tuple[Value | None, ...]:
        (p, t), dtype = node.inputs, node.inputs[0].type.dtype
        wide_p, wide_dz = widened(p), widened(dz)
        slope = (wide_p - widened(t)) / ops.maximum((1 - wide_p) * wide_p, LEAST_SPREAD)
        none, all = ops.equal(wide_p, 0), ops.equal(wide_p, 1)
        sure = ops.select(none, LEAST_LOG, ops.log(ops.select(none, 1, wide_p)))
        unsure = ops.select(all, LEAST_LOG, ops.log1p(-ops.select(all, 0, wide_p)))
        dt = wide_dz * (unsure - sure)
        return summed_back(node, ops.cast(wide_dz * slope, dtype), ops.cast(dt, dtype))

    @in_f32
    def decompose(self, p: Value, t: Value) -> tuple[Value, ...] | None:
        sure, unsure = (ops.maximum(x, LEAST_LOG) for x in (ops.log(p), ops.log1p(-p)))
        return ((t - 1) * unsure - t * sure,)


binary_cross_entropy = BinaryCrossEntropy()


def softmax_cross_entropy(logits: Value, labels: Value) -> Value:
    """The loss of each example, for labels that are distributions: [..., classes] -> [...]."""
    return SoftmaxCrossEntropy().outputs_of(logits, labels)[0]


def sparse_softmax_cross_entropy(logits: Value, labels: Value) -> Value:
    """The loss of each example, for labels that are classes: [..., classes] and [...] -> [...]."""
    return SparseSoftmaxCrossEntropy().outputs_of(logits, labels)[0]


def _losses(op: Op, logits: TensorType) -> TensorType:
    """The type of the losses, [...], for logits of [..., classes]."""
    if not logits.shape:
        raise ShapeError(f"{op.name}: logits are [..., classes], got {logits}")
    return TensorType(logits.dtype, logits.shape[:-1])


def _examples(op: Op, logits: TensorType, labels: TensorType) -> TensorType:
    """The type of the losses, [...], from the logits [..., classes] and the labels [...]."""
    loss = _losses(op, logits)
    assert loss.shape is not None and labels.shape is not None
    what = f"logits are {logits} and labels are {labels}"
    if len(loss.shape) != len(labels.shape):
        raise ShapeError(f"{op.name}: {what}; labels have all axes of the logits but the last")
    pairs = zip(loss.shape, labels.shape, strict=True)
    return TensorType(loss.dtype, tuple(meet_dims(op.name, a, b, what) for a, b in pairs))


def _joined(loss: TensorType, logits: TensorType) -> TensorType:
    """The type of the logits, [..., classes], with the leading dimensions of `loss`."""
    assert loss.shape is not None and logits.shape is not None
    return TensorType(logits.dtype, (*loss.shape, logits.shape[-1]))


def _check_integers(op: Op, labels: TensorType) -> None:
    if labels.dtype not in INTEGERS:
        raise ShapeError(
            f"{op.name}: labels are class numbers, of an integer type, got {labels}; "
            "cast(labels, 'i32')"
        )


def _log_softmax(logits: Array) -> Array:
    """log(softmax) along the last axis, in f64."""
    x = logits.astype(np.float64)
    with np.errstate(all="ignore"):
        below = x - x.max(axis=-1, keepdims=True, initial=-np.inf)
        log_p: Array = below - np.log(np.exp(below).sum(axis=-1, keepdims=True))
    return log_p

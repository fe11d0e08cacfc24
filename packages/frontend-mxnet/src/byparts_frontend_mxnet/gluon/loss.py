"""`gluon.loss`: a number for each example: the mean over all axes but that of the batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_mxnet.gluon.block import HybridBlock


class Loss(HybridBlock):
    """Subclass with `hybrid_forward(F, pred, label, sample_weight=None)`.

    Args:
        weight: a factor of the loss.
        batch_axis: the axis of the examples.
    """

    def __init__(self, weight: Optional[float], batch_axis: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._weight, self._batch_axis = weight, batch_axis

    def weighted(self, F: Any, loss: Any, sample_weight: Any, factor: float = 1.0) -> Any:
        """Times the weights, and the mean for each example."""
        if sample_weight is not None:
            loss = F.broadcast_mul(loss, sample_weight)
        factor = factor * (1.0 if self._weight is None else self._weight)
        loss = loss if factor == 1 else loss * factor
        return F.mean(loss, axis=self._batch_axis, exclude=True)


def _logits(F: Any, pred: Any, label: Any) -> Any:
    return F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type="softrelu")


def _binary(F: Any, pred: Any, label: Any, own: Any) -> Any:
    if not own["from_sigmoid"]:
        return _logits(F, pred, label)
    return -(F.log(pred + 1e-12) * label + F.log(1.0 - pred + 1e-12) * (1.0 - label))


def _huber(F: Any, pred: Any, label: Any, own: Any) -> Any:
    distance, rho = F.abs(label - pred), own["rho"]
    return F.where(distance > rho, distance - 0.5 * rho, F.square(distance) * (0.5 / rho))


def _logistic(F: Any, pred: Any, label: Any, own: Any) -> Any:
    return _logits(F, pred, label if own["label_format"] == "binary" else (label + 1.0) * 0.5)


def _kl(F: Any, pred: Any, label: Any, own: Any) -> Any:
    pred = pred if own["from_logits"] else F.log_softmax(pred, axis=own["axis"])
    return label * (F.log(label + 1e-12) - pred)


def _loss(name: str, doc: str, forward: Callable[..., Any], **defaults: Any) -> Any:
    """A loss whose own arguments are `defaults`, in order; `forward` is its `hybrid_forward`."""

    def start(self: Any, *args: Any, **kwargs: Any) -> None:
        names = {**defaults, "weight": None, "batch_axis": 0}
        given = names | dict(zip(names, args, strict=False))
        given |= {k: kwargs.pop(k) for k in names if k in kwargs}
        self._own = {k: given[k] for k in defaults}
        Loss.__init__(self, given["weight"], given["batch_axis"], **kwargs)

    return type(name, (Loss,), {"__init__": start, "hybrid_forward": forward, "__doc__": doc})


def _elementwise(name: str, doc: str, function: Callable[..., Any], **defaults: Any) -> Any:
    """A loss that is a function of each element."""

    def forward(self: Any, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
        loss = function(F, pred, F.reshape_like(label, pred), self._own)
        return self.weighted(F, loss, sample_weight)

    return _loss(name, doc, forward, **defaults)


L2Loss = _elementwise(
    "L2Loss", "Half of (label - pred)².", lambda F, p, y, _: F.square(y - p) * 0.5
)
L1Loss = _elementwise("L1Loss", "|label - pred|.", lambda F, p, y, _: F.abs(y - p))
HuberLoss = _elementwise("HuberLoss", "Half of x² / rho near 0, else |x| - rho / 2.", _huber, rho=1)
HingeLoss = _elementwise(
    "HingeLoss", "max(0, margin - pred label).",
    lambda F, p, y, own: F.relu(own["margin"] - p * y), margin=1,
)  # fmt: skip
SquaredHingeLoss = _elementwise(
    "SquaredHingeLoss", "The square of the hinge loss.",
    lambda F, p, y, own: F.square(F.relu(own["margin"] - p * y)), margin=1,
)  # fmt: skip
LogisticLoss = _elementwise(
    "LogisticLoss", "log(1 + exp(-pred label)).", _logistic, label_format="signed"
)
SigmoidBinaryCrossEntropyLoss = SigmoidBCELoss = _elementwise(
    "SigmoidBinaryCrossEntropyLoss", "Cross entropy of bits.", _binary, from_sigmoid=False
)
KLDivLoss = _elementwise("KLDivLoss", "label (log label - pred).", _kl, from_logits=True, axis=-1)


def _of_classes(self: Any, F: Any, pred: Any, label: Any, sample_weight: Any = None) -> Any:
    own, how = self._own, {"axis": self._own["axis"], "keepdims": True}
    pred = pred if own["from_logits"] else F.log_softmax(pred, axis=own["axis"])
    if own["sparse_label"]:
        loss = F.pick(pred, label, **how)
    else:
        loss = F.sum(pred * F.reshape_like(label, pred), **how)
    return self.weighted(F, loss, sample_weight, -1.0)


def _triplet(self: Any, F: Any, pred: Any, positive: Any, negative: Any) -> Any:
    far = F.square(F.reshape_like(positive, pred) - pred)
    far = far - F.square(F.reshape_like(negative, pred) - pred)
    loss = F.relu(F.sum(far, axis=self._batch_axis, exclude=True) + self._own["margin"])
    return loss if self._weight is None else loss * self._weight


SoftmaxCrossEntropyLoss = SoftmaxCELoss = _loss(
    "SoftmaxCrossEntropyLoss",
    """Cross entropy of classes, [n, ...] -> [n].

    Args:
        axis: that of the classes.
        sparse_label: labels are indices, not probabilities.
        from_logits: pred are logarithms of probabilities already.
    """,
    _of_classes, axis=-1, sparse_label=True, from_logits=False,
)  # fmt: skip
TripletLoss = _loss(
    "TripletLoss", "max(0, |pred - positive|² - |pred - negative|² + margin), [n, ...] -> [n].",
    _triplet, margin=1,
)  # fmt: skip

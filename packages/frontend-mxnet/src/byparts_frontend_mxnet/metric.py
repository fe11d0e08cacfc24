"""Metrics: numbers that are added up batch by batch, and read with `get`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

import numpy
from numpy.typing import NDArray

from byparts_frontend_mxnet.context import listed
from byparts_frontend_mxnet.errors import unknown
from byparts_graph_ir import ArgumentError

Numbers = NDArray[Any]


class EvalMetric:
    """A sum over batches, divided by a count.

    A subclass gives `measure(label, prediction) -> (sum, count)` of NumPy arrays, or its own
    `update`, which adds to `sum_metric` and `num_inst`.

    Args:
        name: what `get` calls it.
        output_names: which outputs are predictions, for `update_dict`; all by default.
        label_names: which labels they are compared with; all by default.
    """

    def __init__(
        self, name: str, output_names: Optional[Sequence[str]] = None,
        label_names: Optional[Sequence[str]] = None,
    ) -> None:  # fmt: skip
        self.name, self.output_names, self.label_names = str(name), output_names, label_names
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self.sum_metric: float = 0.0
        self.num_inst: float = 0

    def measure(self, label: Numbers, prediction: Numbers) -> tuple[float, float]:
        """The sum and the count of one array of labels and its predictions."""
        raise NotImplementedError(f"{type(self).__name__} lacks measure(label, prediction)")

    def update(self, labels: Sequence[Any], preds: Sequence[Any]) -> None:
        """Add a batch: lists of arrays, a label for each prediction."""
        labels, preds = listed(labels), listed(preds)
        check_label_shapes(labels, preds)
        for label, prediction in zip(labels, preds, strict=True):
            total, count = self.measure(_numpy(label), _numpy(prediction))
            self.sum_metric += total
            self.num_inst += count

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        """Add a batch of arrays by name."""
        preds = [pred[n] for n in self.output_names or pred]
        self.update([label[n] for n in self.label_names or label], preds)

    def get(self) -> tuple[Any, Any]:
        """The name and the value; nan before the first batch."""
        return self.name, self.sum_metric / self.num_inst if self.num_inst else math.nan

    def get_name_value(self) -> list[tuple[str, float]]:
        """Pairs of name and value."""
        name, value = self.get()
        return list(zip(listed(name), listed(value), strict=True))

    def __str__(self) -> str:
        return f"EvalMetric: {dict(self.get_name_value())}"


_NAMED: dict[str, Any] = {}


def register(cls: Any) -> Any:
    """Let `create` find a class of metrics by its name; a decorator."""
    _NAMED[cls.__name__.lower()] = cls
    return cls


class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same predictions."""

    def __init__(
        self, metrics: Sequence[Any] = (), name: str = "composite", **keywords: Any
    ) -> None:
        self.metrics = [create(m) for m in metrics]
        super().__init__(name, **keywords)

    def add(self, metric: Any) -> None:
        """Take in one more."""
        self.metrics.append(create(metric))

    def get_metric(self, index: int) -> EvalMetric:
        """The metric at this place."""
        return self.metrics[index]

    def reset(self) -> None:
        for m in self.metrics:
            m.reset()

    def update(self, labels: Sequence[Any], preds: Sequence[Any]) -> None:
        for m in self.metrics:
            m.update(labels, preds)

    def update_dict(self, label: Mapping[str, Any], pred: Mapping[str, Any]) -> None:
        for m in self.metrics:
            m.update_dict(label, pred)

    def get(self) -> tuple[list[str], list[float]]:
        pairs = [pair for m in self.metrics for pair in m.get_name_value()]
        return [name for name, _ in pairs], [value for _, value in pairs]


@register
class TopKAccuracy(EvalMetric):
    """The fraction of labels that are among the `top_k` largest predictions."""

    def __init__(self, top_k: int = 1, name: str = "top_k_accuracy", **keywords: Any) -> None:
        super().__init__(f"{name}_{top_k}", **keywords)
        self.top_k = top_k

    def measure(self, label: Numbers, prediction: Numbers) -> tuple[float, float]:
        best = prediction.reshape(len(prediction), -1).argsort(1)[:, -self.top_k :]
        return float((best == label.astype("int64").reshape(-1, 1)).sum()), len(best)


@register
class CustomMetric(EvalMetric):
    """The mean over batches of `feval(label, prediction)`, which may give (sum, count) as well."""

    def __init__(
        self, feval: Callable[..., Any], name: Optional[str] = None,
        allow_extra_outputs: bool = False, **keywords: Any,
    ) -> None:  # fmt: skip
        own = getattr(feval, "__name__", "<lambda>")
        super().__init__(name or (f"custom({own})" if "<" in own else own), **keywords)
        self.feval, self.allow_extra_outputs = feval, allow_extra_outputs

    def update(self, labels: Sequence[Any], preds: Sequence[Any]) -> None:
        preds = listed(preds)
        super().update(labels, preds[: len(labels)] if self.allow_extra_outputs else preds)

    def measure(self, label: Numbers, prediction: Numbers) -> tuple[float, float]:
        value = self.feval(label, prediction)
        return value if isinstance(value, tuple) else (value, 1)


_NAMED.update(composite=CompositeEvalMetric, top_k_accuracy=TopKAccuracy, top_k_acc=TopKAccuracy)


def _accuracy(self: Any, label: Numbers, prediction: Numbers) -> tuple[float, float]:
    if prediction.shape != label.shape:
        prediction = prediction.argmax(self.axis)
    _check_sizes(self.name, label, prediction)
    right = prediction.astype("int64").ravel() == label.astype("int64").ravel()
    return float(right.sum()), right.size


def _cross_entropy(self: Any, label: Numbers, prediction: Numbers) -> tuple[float, float]:
    rows, chosen = prediction.reshape(-1, prediction.shape[-1]), label.astype("int64").ravel()
    _check_sizes(self.name, chosen, rows[:, 0])
    return float(-numpy.log(rows[numpy.arange(len(rows)), chosen] + self.eps).sum()), len(rows)


def _perplexity(self: Any, label: Numbers, prediction: Numbers) -> tuple[float, float]:
    rows = numpy.moveaxis(prediction, self.axis, -1).reshape(-1, prediction.shape[self.axis])
    chosen = label.astype("int64").ravel()
    _check_sizes(self.name, chosen, rows[:, 0])
    counted = chosen != (math.nan if self.ignore_label is None else self.ignore_label)
    p = rows[counted, chosen[counted]]
    return float(-numpy.log(numpy.maximum(p, 1e-10)).sum()), int(counted.sum())


def _exponential(self: EvalMetric) -> tuple[str, float]:
    name, mean = EvalMetric.get(self)
    return name, math.exp(mean)


def _of_outputs(self: EvalMetric, labels: Any, preds: Any) -> None:
    """Add the elements of the outputs; labels are not read."""
    for p in map(_numpy, listed(preds)):
        self.sum_metric += float(p.sum())
        self.num_inst += p.size


def _f1(_: Any, label: Numbers, prediction: Numbers) -> tuple[float, float]:
    chosen, truth = prediction.argmax(1), label.astype("int64").ravel()
    if truth.size and truth.max() > 1:
        raise ArgumentError(f"metric f1: labels are 0 and 1, and here is {truth.max()}")
    hits = float((chosen * truth).sum())
    return 2 * hits / float(chosen.sum() + truth.sum()) if hits else 0.0, 1


def _of_differences(measured: Callable[[Any], Any]) -> Callable[..., tuple[float, float]]:
    """A function of labels less predictions, where a column of labels goes with each column."""

    def of_both(self: Any, label: Numbers, prediction: Numbers) -> tuple[float, float]:
        if label.size == len(prediction) < prediction.size:
            columns = label.reshape(-1, *[1] * (prediction.ndim - 1))
            return float(measured(columns - prediction)), 1
        _check_sizes(self.name, label, prediction)
        return float(measured(label.reshape(prediction.shape) - prediction)), 1

    return of_both


def _made(names: str, measured: Any, what: str, fields: Any = None, **defaults: Any) -> Any:
    """A metric whose own arguments are `defaults`, in order, and then its name.

    Args:
        names: of the class, of the metric, and others by which `create` finds it.
        measured: takes the metric, labels and predictions; gives their sum and count.
        what: its docstring.
        fields: other members of the class.
        defaults: become attributes.
    """
    class_name, key, *others = names.split()

    def start(self: EvalMetric, *args: Any, **keywords: Any) -> None:
        given = {**defaults, "name": key} | dict(zip((*defaults, "name"), args, strict=False))
        given |= keywords
        self.__dict__.update({k: given.pop(k) for k in defaults})
        EvalMetric.__init__(self, **given)

    members = {"__init__": start, "measure": measured, "__doc__": what, **(fields or {})}
    cls = type(class_name, (EvalMetric,), members)
    _NAMED.update(dict.fromkeys((class_name.lower(), key, *others), cls))
    return cls


_NLL = "The mean of -log(p + eps) over the labels, p the probability that is predicted of each."
Accuracy = _made(
    "Accuracy accuracy acc", _accuracy,
    "The fraction of labels that have the largest prediction along `axis`.", axis=1,
)  # fmt: skip
CrossEntropy = _made("CrossEntropy cross-entropy ce", _cross_entropy, _NLL, eps=1e-12)
NegativeLogLikelihood = _made(
    "NegativeLogLikelihood nll-loss nll_loss", _cross_entropy, _NLL, eps=1e-12
)
Perplexity = _made(
    "Perplexity perplexity", _perplexity,
    "e to the mean of -log p over all labels but `ignore_label`.", {"get": _exponential},
    ignore_label=None, axis=-1,
)  # fmt: skip
Loss = _made("Loss loss", None, "The mean of all elements of the outputs.", {"update": _of_outputs})
MAE = _made("MAE mae", _of_differences(lambda d: abs(d).mean()), "The mean absolute error.")
MSE = _made("MSE mse", _of_differences(lambda d: (d**2).mean()), "The mean squared error.")
RMSE = _made(
    "RMSE rmse", _of_differences(lambda d: (d**2).mean() ** 0.5), "The root of the mean square."
)
F1 = _made("F1 f1", _f1, "2 * precision * recall / (precision + recall), of two classes.")
PearsonCorrelation = _made(
    "PearsonCorrelation pearsonr",
    lambda _, y, p: (float(numpy.corrcoef(p.ravel(), y.ravel())[0, 1]), 1),
    "Pearson's correlation.",
)


def create(metric: Any, *args: Any, **keywords: Any) -> EvalMetric:
    """A metric from its name, a function of labels and predictions, a metric, or a list of these.

    Raises:
        UnknownName: there is none of this name.
    """
    if isinstance(metric, EvalMetric):
        return metric
    if isinstance(metric, (list, tuple)):
        return CompositeEvalMetric([create(m, *args, **keywords) for m in metric])
    if callable(metric):
        return CustomMetric(metric, *args, **keywords)
    cls = _NAMED.get(str(metric).lower())
    if cls is None:
        raise unknown("mx.metric", str(metric), _NAMED)
    made: EvalMetric = cls(*args, **keywords)
    return made


def np(
    numpy_feval: Callable[..., Any], name: Optional[str] = None, allow_extra_outputs: bool = False
) -> CustomMetric:
    """A metric from a function of NumPy arrays."""
    return CustomMetric(numpy_feval, name or numpy_feval.__name__, allow_extra_outputs)


def check_label_shapes(labels: Any, preds: Any, shape: int = 0) -> None:
    """Raise ArgumentError unless lengths, or with `shape=1` shapes, are equal."""
    of_both = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if of_both[0] != of_both[1]:
        raise ArgumentError(
            f"metric: {of_both[0]} labels for {of_both[1]} predictions; give output_names= and "
            "label_names= to say which belong together"
        )


def _numpy(x: Any) -> Numbers:
    return numpy.asarray(x.asnumpy() if hasattr(x, "asnumpy") else x)


def _check_sizes(name: str, label: Numbers, prediction: Numbers) -> None:
    if label.size != prediction.size:
        raise ArgumentError(
            f"metric {name}: labels of shape {label.shape} and predictions of shape "
            f"{prediction.shape} do not match"
        )

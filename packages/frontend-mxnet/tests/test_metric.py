import math
from typing import Any

import numpy as np
import pytest

import byparts_frontend_mxnet as mx
from byparts_graph_ir import ArgumentError

LABELS = [mx.nd.array([0, 1, 1])]
PREDICTIONS = [mx.nd.array([[0.8, 0.2], [0.4, 0.6], [0.9, 0.1]])]
VALUES = {
    "acc": 2 / 3,
    "top_k_accuracy_2": 1.0,
    "f1": 2 / 3,
    "ce": -(math.log(0.8) + math.log(0.6) + math.log(0.1)) / 3,
    "nll_loss": -(math.log(0.8) + math.log(0.6) + math.log(0.1)) / 3,
    "perplexity": (0.8 * 0.6 * 0.1) ** (-1 / 3),
    "loss": 0.5,
}


@pytest.mark.parametrize("name", VALUES)
def test_metrics_have_the_values_of_their_formulas(name: str) -> None:
    """Three samples of two classes, in two batches."""
    metric = (
        mx.metric.create("top_k_accuracy", top_k=2) if "top" in name else mx.metric.create(name)
    )
    assert math.isnan(metric.get()[1])
    for _ in range(2):
        metric.update(LABELS, PREDICTIONS)
    np.testing.assert_allclose(metric.get()[1], VALUES[name], rtol=1e-5)


def test_errors_of_regressions_and_correlation() -> None:
    """Labels of one axis are compared with a column."""
    metric = mx.metric.create(["mae", "mse", "rmse", "pearsonr"])
    metric.update([mx.nd.array([0, 1, 2])], [mx.nd.array([[0], [2], [4]])])
    assert metric.get()[0] == ["mae", "mse", "rmse", "pearsonr"]
    np.testing.assert_allclose(metric.get()[1], [1, 5 / 3, math.sqrt(5 / 3), 1], rtol=1e-6)


def test_labels_to_ignore_do_not_count() -> None:
    """Padding has no perplexity."""
    metric = mx.metric.Perplexity(ignore_label=0)
    metric.update(LABELS, PREDICTIONS)
    np.testing.assert_allclose(metric.get()[1], (0.6 * 0.1) ** -0.5, rtol=1e-6)


def test_functions_and_classes_of_ones_own() -> None:
    """A function of NumPy arrays, and a registered class."""
    metric = mx.metric.np(lambda label, pred: float(pred.sum() - label.sum()), name="gap")
    metric.update(LABELS, PREDICTIONS)
    assert metric.get_name_value() == [("gap", 1.0)]

    @mx.metric.register
    class Batches(mx.metric.EvalMetric):
        def __init__(self) -> None:
            super().__init__("batches")

        def update(self, labels: Any, preds: Any) -> None:
            self.sum_metric, self.num_inst = self.sum_metric + 1, 1

    counted = mx.metric.create("batches")
    counted.update(LABELS, PREDICTIONS)
    assert str(counted) == "EvalMetric: {'batches': 1.0}"


def test_errors_name_metrics_and_shapes() -> None:
    """Close names; numbers of labels and predictions."""
    with pytest.raises(mx.MXNetError, match=r"mx\.metric has no 'acuracy'; close names: accuracy"):
        mx.metric.create("acuracy")
    with pytest.raises(ArgumentError, match="1 labels for 2 predictions"):
        mx.metric.create("acc").update(LABELS, PREDICTIONS * 2)
    with pytest.raises(
        ArgumentError, match=r"labels of shape \(2,\) and predictions of shape \(3,\)"
    ):
        mx.metric.create("acc").update([mx.nd.array([0, 1])], PREDICTIONS)


def test_a_column_of_labels_goes_with_each_column_of_predictions() -> None:
    """The mean squared error of class numbers and probabilities, as the tutorial prints it."""
    mse = mx.metric.create("mse")
    mse.update([mx.nd.array([0, 2])], [mx.nd.array([[0, 1, 1], [1, 1, 1]])])
    assert mse.get() == ("mse", np.float32(5 / 6))
    mx.metric.check_label_shapes(np.ones(3), np.zeros(3), shape=1)
    with pytest.raises(ArgumentError, match=r"\(3,\) labels for \(4,\) predictions"):
        mx.metric.check_label_shapes(np.ones(3), np.zeros(4), shape=1)

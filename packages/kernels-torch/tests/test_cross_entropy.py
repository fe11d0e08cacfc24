"""Cross entropy where logarithms are infinite, and labels that are no class."""

from __future__ import annotations

import numpy as np
import pytest
from torch_kernel import Array, kernel

from byparts_graph_ir import GraphError, Op
from byparts_opset.cross_entropy import SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy
from byparts_opset.index import InRange

pytest.importorskip("torch", reason="needs torch")


def same(op: Op, *inputs: Array) -> None:
    with np.errstate(all="ignore"):
        wants = op.evaluate(*inputs)
    for got, want in zip(kernel(op, *inputs), wants, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("label", [0.0, 0.5])
@pytest.mark.parametrize("logit", [-np.inf, -200.0, np.nan])
def test_a_label_of_0_counts_nothing(label: float, logit: float) -> None:
    """Also where the softmax is 0; and a nan is not lost."""
    logits = np.array([[1, 2, logit], [0, 1, 2]], np.float32)
    labels = np.array([[1, 0, label], [0, 0.3, 0.7]], np.float32)

    same(SoftmaxCrossEntropy(), logits, labels)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_classes_of_any_integer_type(dtype: str) -> None:
    logits = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)

    same(SparseSoftmaxCrossEntropy(), logits, np.array([[0, 3, 1], [2, 2, 0]], dtype))


@pytest.mark.parametrize("label", [-1, 4, -100])
def test_a_label_that_is_no_class_is_an_error(label: int) -> None:
    """-100, which torch ignores unless told otherwise, as well."""
    logits, labels = np.zeros((2, 4), np.float32), np.array([1, label])

    with pytest.raises(GraphError, match=f"label {label} is no class: there are 4, 0 to 3"):
        kernel(SparseSoftmaxCrossEntropy(), logits, labels)


@pytest.mark.parametrize("label", [-(1 << 63), (1 << 63) - 1])
def test_the_extreme_labels_are_no_classes(label: int) -> None:
    """The least is what torch's loss is told to ignore."""
    logits, labels = np.zeros((2, 4), np.float32), np.array([1, label])

    with pytest.raises(GraphError, match=f"label {label} is no class"):
        kernel(SparseSoftmaxCrossEntropy(), logits, labels)


def test_where_there_are_no_classes_each_label_is_refused() -> None:
    with pytest.raises(GraphError, match="label 0 is no class: there are 0"):
        kernel(SparseSoftmaxCrossEntropy(), np.zeros((2, 0), np.float32), np.zeros(2, np.int64))


def test_indices_in_range_are_passed_on() -> None:
    """Others are refused in the words of the op that they are of."""
    same(InRange(4, "gather", 1), np.array([0, 3]))
    with pytest.raises(GraphError, match=r"gather: index 4 at \[1\] is out of range for axis 1"):
        kernel(InRange(4, "gather", 1), np.array([0, 4]))

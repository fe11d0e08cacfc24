"""Softmax and cross entropy kernels against `evaluate`: short rows, long rows, other axes."""

import numpy as np
import pytest
from bound import BACKEND, bound, kernel, node_on, peak_bytes, spread

from byparts_graph_ir import GraphError, Op
from byparts_opset import LogSoftmax, Softmax, SoftmaxCrossEntropy, SparseSoftmaxCrossEntropy
from byparts_opset.dtypes import Array

RANDOM = np.random.default_rng(2)
SHAPES = [(100, 10), (1, 10), (3, 1000), (5000, 20), (2, 3, 70, 4), (0, 3), (3, 0), (6,)]


def _logits(*shape: int) -> Array:
    return RANDOM.normal(0, 3, shape).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("op", [Softmax(), LogSoftmax(), Softmax(0), LogSoftmax(0)])
def test_as_evaluate(op: Op, shape: tuple[int, ...]) -> None:
    """Placed apart, over the input, and with gaps in memory."""
    x = _logits(*shape)
    expected = op.evaluate(x)[0]

    for found in (kernel(op, x), kernel(op, x, into=0), kernel(op, spread(x))):
        np.testing.assert_allclose(found[0], expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_cross_entropy_as_evaluate(shape: tuple[int, ...]) -> None:
    """Dense and sparse, both outputs."""
    x = _logits(*shape)
    dense, sparse = SoftmaxCrossEntropy(), SparseSoftmaxCrossEntropy()
    cases: list[tuple[Op, Array]] = [(dense, RANDOM.uniform(0, 1, shape).astype(np.float32))]
    if shape[-1]:
        cases.append((sparse, RANDOM.integers(0, shape[-1], shape[:-1]).astype(np.uint8)))
    for op, labels in cases:
        for arrays in ((x, labels), (spread(x), labels)):
            for y, expected in zip(kernel(op, *arrays), op.evaluate(*arrays), strict=True):
                np.testing.assert_allclose(y, expected, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize("shape", [(100, 10), (4, 300)])
def test_the_residual_may_overwrite_the_logits(shape: tuple[int, ...]) -> None:
    """What keeps a training step at one buffer of this size."""
    for op, labels in (
        (SoftmaxCrossEntropy(), RANDOM.uniform(0, 1, shape).astype(np.float32)),
        (SparseSoftmaxCrossEntropy(), np.arange(shape[0], dtype=np.int64) % shape[1]),
    ):
        x = _logits(*shape)
        loss, expected = np.empty(shape[0], np.float32), op.evaluate(x, labels)
        BACKEND.bind(node_on(op, x, labels), [x, labels], [loss, x])()
        np.testing.assert_allclose(loss, expected[0], rtol=1e-4)
        np.testing.assert_allclose(x, expected[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("width", [3, 300])
def test_masked_classes(width: int) -> None:
    """-inf with label 0 counts nothing, and the rows beside are untouched."""
    x = _logits(5, width)
    x[1, 0] = x[2] = -np.inf
    labels = np.full((5, width), 1 / width, np.float32)
    labels[1, 0] = 0

    loss, residual = kernel(SoftmaxCrossEntropy(), x, labels)

    expected = SoftmaxCrossEntropy().evaluate(x, labels)
    np.testing.assert_allclose(loss, expected[0], rtol=1e-5)
    np.testing.assert_allclose(residual, expected[1], rtol=1e-4, atol=1e-6)
    assert np.isfinite(loss).tolist() == [True, True, False, True, True]


@pytest.mark.parametrize("label", [-1, 10])
def test_a_label_that_is_no_class_is_an_error_before_anything_is_written(label: int) -> None:
    """It names the label and how many classes there are."""
    labels = np.array([0, label, 3], np.int32)

    with pytest.raises(GraphError, match=f"label {label} is no class: there are 10, 0 to 9"):
        kernel(SparseSoftmaxCrossEntropy(), _logits(3, 10), labels)


@pytest.mark.parametrize("op", [Softmax(), LogSoftmax(), Softmax(0)])
def test_no_memory_of_the_size_of_the_input(op: Op) -> None:
    """4 MB in, at most NumPy's own buffers (three of 32 KB) beside."""
    assert peak_bytes(bound(op, _logits(1000, 1000))) < 120_000


def test_cross_entropy_allocates_no_one_hot() -> None:
    """The same, for labels of either kind."""
    x = _logits(1000, 1000)

    assert peak_bytes(bound(SoftmaxCrossEntropy(), x, np.abs(x))) < 120_000
    assert peak_bytes(bound(SparseSoftmaxCrossEntropy(), x, np.arange(1000))) < 120_000

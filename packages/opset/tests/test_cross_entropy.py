"""Cross entropy against distributions and against classes."""

import numpy as np
import pytest
from numeric import call, check_gradient, present, run

from byparts_graph_ir import Graph, GraphError, Input, Node, ShapeError, TensorType, infer_inputs
from byparts_opset import (
    SoftmaxCrossEntropy,
    SparseSoftmaxCrossEntropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
    zeros,
)

RANDOM = np.random.default_rng(4)
LOGITS = RANDOM.normal(size=(3, 4))
LABELS = RANDOM.uniform(0.1, 1, size=(3, 4))
CLASSES = np.array([0, 3, 1], np.int32)
ONE_HOT = np.eye(4)[CLASSES]


def test_even_logits_cost_the_logarithm_of_the_classes() -> None:
    """log(4), whichever class it is."""
    even = np.full((3, 4), 7.0)

    np.testing.assert_allclose(call(softmax_cross_entropy, even, ONE_HOT), np.log(4))
    np.testing.assert_allclose(call(sparse_softmax_cross_entropy, even, CLASSES), np.log(4))


def test_the_loss_is_the_definition() -> None:
    """-sum(labels * log(p)), for labels that do not sum to 1."""
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(axis=1, keepdims=True)

    found = call(softmax_cross_entropy, LOGITS, LABELS)

    np.testing.assert_allclose(found, -(LABELS * np.log(p)).sum(axis=1))


def test_classes_are_one_hot_labels() -> None:
    """Both outputs are the same for either kind of label."""
    dense = SoftmaxCrossEntropy().evaluate(LOGITS, ONE_HOT)
    sparse = SparseSoftmaxCrossEntropy().evaluate(LOGITS, CLASSES)

    np.testing.assert_allclose(sparse[0], dense[0])
    np.testing.assert_allclose(sparse[1], dense[1], atol=1e-15)


def test_huge_logits_do_not_overflow() -> None:
    """The loss of the wrong one of (1e4, 0) is 1e4, in f32."""
    logits = np.array([[1e4, 0]], np.float32)

    assert call(sparse_softmax_cross_entropy, logits, np.array([1])).tolist() == [1e4]


def test_a_masked_class_with_label_0_counts_nothing() -> None:
    """0 * log(0) is 0 here; with a label on it the loss is infinite."""
    logits = np.array([[0.0, -np.inf, 0], [0, -np.inf, 0]])
    labels = np.array([[1.0, 0, 0], [0, 1, 0]])

    assert call(softmax_cross_entropy, logits, labels).tolist() == [np.log(2), np.inf]


def test_gradients_of_both_outputs() -> None:
    """Of the logits and of dense labels; that of the residual is the second order."""
    check_gradient(SoftmaxCrossEntropy(), LOGITS, LABELS)
    check_gradient(SparseSoftmaxCrossEntropy(), LOGITS, CLASSES)


def test_the_gradient_of_the_loss_is_one_multiplication() -> None:
    """Where nobody differentiates the residual, the softmax is not computed again."""
    x, n = Input(TensorType("f32", (3, 4))), Input(TensorType("i32", (3,)))
    node = Node(SparseSoftmaxCrossEntropy(), (x, n))
    dloss = Input(TensorType("f32", (3,)))
    dx, none = node.op.gradient(node, dloss, zeros((3, 4)))

    ops = [m.op.name for m in Graph.of((x, n, dloss), [present(dx)]).nodes]
    assert ops == ["sparse_softmax_cross_entropy", "expand_dims", "mul"]
    assert none is None


def test_a_label_that_is_no_class_is_named() -> None:
    """When the program runs, with the number of classes."""
    with pytest.raises(GraphError, match="label 4 is no class: there are 4, 0 to 3"):
        SparseSoftmaxCrossEntropy().evaluate(LOGITS, np.array([0, 4, 1]))
    with pytest.raises(GraphError, match="label -1 is no class"):
        SparseSoftmaxCrossEntropy().evaluate(LOGITS, np.array([0, -1, 1]))


def test_types_that_do_not_fit() -> None:
    """Each error has the types in it."""
    x = Input(TensorType("f32", (3, 4)))

    with pytest.raises(
        ShapeError, match=r"logits are f32\[3,4\] and labels are i32\[4\], so 3 meets 4"
    ):
        sparse_softmax_cross_entropy(x, Input(TensorType("i32", (4,))))
    with pytest.raises(ShapeError, match="labels are class numbers, of an integer type, got f32"):
        sparse_softmax_cross_entropy(x, x)
    with pytest.raises(ShapeError, match=r"shapes differ: f32\[3,4\] and f32\[3,5\]"):
        softmax_cross_entropy(x, Input(TensorType("f32", (3, 5))))


def test_labels_and_logits_tell_each_other_their_shapes() -> None:
    """Backwards: an unknown batch is that of the labels."""
    x, n = Input(TensorType("f32", (None, 4))), Input(TensorType("i32", None))
    graph = Graph.of((x, n), [sparse_softmax_cross_entropy(x, n)])

    assert infer_inputs(graph, (None, TensorType("i32", (8,))))[0] == TensorType("f32", (8, 4))
    assert infer_inputs(graph, (TensorType("f32", (5, 4)), None))[1] == TensorType("i32", (5,))


def test_decompositions_agree() -> None:
    """What a backend without kernels runs, both outputs."""
    for op, labels in ((SoftmaxCrossEntropy(), LABELS), (SparseSoftmaxCrossEntropy(), CLASSES)):
        dtype = "i32" if labels is CLASSES else "f64"
        inputs = Input(TensorType("f64", (3, 4))), Input(TensorType(dtype, labels.shape))
        found = run(Graph.of(inputs, op.decompose(*inputs) or ()), LOGITS, labels)
        np.testing.assert_allclose(found[0], op.evaluate(LOGITS, labels)[0])
        np.testing.assert_allclose(found[1], op.evaluate(LOGITS, labels)[1], atol=1e-15)

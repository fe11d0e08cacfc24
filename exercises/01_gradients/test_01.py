from unittest.mock import patch

import numpy as np

import byparts as bp
from byparts import nn, ops
from byparts_graph_ir import Graph, Input, TensorType
from byparts_opset.evaluate import evaluate

X = Input(TensorType("f64", (6,)), name="x")
POINTS = np.array([0.5, -1.0, 2.0, 1.5, -0.5, 3.0])


def compare(student, loss, sentence):
    try:
        graphs = [Graph.of([X], f(loss, [X])) for f in (bp.autodiff.gradients, student.gradients)]
        right, yours = (evaluate(graph, POINTS)[0].round(3) for graph in graphs)
        equal = np.allclose(yours, right)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise AssertionError(f"{sentence}; yours ends in {type(error).__name__}: {error}") from None
    assert equal, f"{sentence}; for x = {POINTS} it is {right}, and yours is {yours}"


def test_a_chain(student):
    """The derivative of sum(exp(tanh(x))) is that of each op times that of what follows."""
    compare(
        student, ops.sum(ops.exp(ops.tanh(X))), "ask the rules of sum, exp and tanh, in this order"
    )


def test_read_twice(student):
    """A value that is read twice gets the sum of both contributions."""
    loss = ops.sum(ops.sin(X) + ops.exp(X))
    compare(student, loss, "x is read twice, by sin and by exp: add the gradients that they give")


def test_readers_first(student):
    """A node is asked when all readers of its result have been, and once."""
    y = ops.tanh(X)
    loss = ops.sum(ops.exp(ops.sin(ops.sin(y))) + y)
    sentence = "y = tanh(x) is read by + and by sin: tanh is asked before all readers of its result"
    compare(student, loss, f"{sentence} have given their part, or twice")


def test_several_outputs(student):
    """A node of three outputs gets a gradient for each, zeros for one that nobody reads."""
    first, _, third = ops.split(X, (2, 2, 2), 0)
    sentence = "split wants a gradient for each of its 3 outputs, zeros for the one nobody reads"
    compare(student, ops.sum(first * third), sentence)


def test_a_network_learns(student):
    """A convolutional network trains on digits by your function, with the losses of ours."""
    ours, yours = trained(bp.autodiff.gradients), trained(student.gradients)
    assert np.allclose(yours, ours, atol=1e-5), f"the losses of a training are {yours}, not {ours}"


def trained(function):
    def swapped(ys, xs, dys=None, unreachable="error"):
        return function(ys, xs)

    with patch("byparts_eager.gradient.gradients", swapped):  # what nn.fit calls
        nn.seed(0)
        layers = nn.Conv2d(None, 4, 3), ops.relu, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(None, 10)
        some = tuple(array[:300] for array in nn.data.digits())
        options = {"optimizer": nn.Adam(1e-2), "epochs": 2, "batch": 50, "log": None}
        return nn.fit(nn.Sequential(*layers), some, backends=("numpy",), **options).losses

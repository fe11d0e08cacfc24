"""Exercise 1: what `gradients(loss, xs)` must do."""

from unittest.mock import patch

import numpy as np

import byparts_nn as nn
import byparts_opset as ops
from byparts_autodiff import gradients as right
from byparts_graph_ir import Graph, Input, TensorType
from byparts_nn.data import digits
from byparts_opset.evaluate import evaluate

X = Input(TensorType("f64", (6,)), name="x")
POINTS = np.array([0.5, -1.0, 2.0, 1.5, -0.5, 3.0])


def by(function, loss):
    return evaluate(Graph.of([X], function(loss, [X])), POINTS)[0]


def compare(student, loss, sentence):
    mine, ours = by(student.gradients, loss), by(right, loss)
    assert np.allclose(mine, ours), (
        f"{sentence}; yours is {mine.round(3)} and {ours.round(3)} is right, for x = {POINTS}"
    )


def test_a_chain(student):
    """The derivative of sum(exp(tanh(x))) is that of each op times that of what follows."""
    compare(student, ops.sum(ops.exp(ops.tanh(X))), "x goes through tanh, exp and sum, one by one")


def test_read_twice(student):
    """A value that is read twice gets the sum of both contributions."""
    loss = ops.sum(ops.sin(X) + ops.exp(X))
    compare(student, loss, "x is read twice, by sin and by exp: add the gradients that they give")


def test_readers_first(student):
    """A node is asked when all readers of its result have been, and once."""
    y = ops.tanh(X)
    loss = ops.sum(ops.exp(ops.sin(ops.sin(y))) + y)
    compare(student, loss, "y = tanh(x) is read by + and by sin, which comes later on the way: "
            "tanh is asked before all readers of its result have given their part")  # fmt: skip


def test_several_outputs(student):
    """A node of three outputs gets a gradient for each, zeros for one that nobody reads."""
    first, _, third = ops.split(X, (2, 2, 2), 0)
    loss = ops.sum(first * third)
    sentence = "split wants a gradient for each of its 3 outputs, zeros for the one nobody reads"
    try:
        compare(student, loss, sentence)
    except AssertionError:
        raise
    except Exception as error:
        raise AssertionError(f"{sentence}; yours ends in {type(error).__name__}: {error}") from None


def test_a_network_learns(student):
    """A convolutional network trains on digits by your function, with the losses of ours."""
    losses = [trained(f) for f in (right, student.gradients)]
    far = max(abs(a - b) for a, b in zip(*losses, strict=True))
    assert far < 1e-5, f"the losses of a training differ by {far}: {losses[1]}, not {losses[0]}"


def trained(function):
    def swapped(ys, xs, dys=None, unreachable="error"):
        return function(ys, xs)

    with patch("byparts_eager.gradient.gradients", swapped):  # what nn.fit calls
        nn.seed(0)
        layers = nn.Conv2d(None, 4, 3), ops.relu, nn.MaxPool2d(2), nn.Flatten(), nn.Linear(None, 10)
        some = tuple(array[:300] for array in digits())
        options = {"optimizer": nn.Adam(1e-2), "epochs": 2, "batch": 50, "log": None}
        return nn.fit(nn.Sequential(*layers), some, backends=("numpy",), **options).losses

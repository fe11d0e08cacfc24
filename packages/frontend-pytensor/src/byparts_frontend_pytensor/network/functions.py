"""Functions of arrays: activations, errors, and sums and products of logarithms."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_graph_ir import ShapeError

LOG2_E = 1.4426950408889634


def identity_function(x: Any) -> Any:
    """X as it is."""
    return x


def step_function(x: Any) -> Any:
    """1 where x > 0, else 0."""
    return np.array(x > 0, dtype=int)


def sigmoid(x: Any, xp: Any = np) -> Any:
    """1 / (1 + e^-x), which is right where e^-x overflows."""
    return 0.5 * xp.tanh(0.5 * x) + 0.5


def sigmoid_grad(x: Any) -> Any:
    """The derivative of `sigmoid`."""
    return (1.0 - sigmoid(x)) * sigmoid(x)


def relu(x: Any) -> Any:
    """X where it is positive, else 0."""
    return np.maximum(0, x)


def relu_grad(x: Any) -> Any:
    """1 where x >= 0, else 0."""
    return (np.asarray(x) >= 0).astype(float)


def softmax(x: Any, xp: Any = np) -> Any:
    """e^x / sum e^x along the last axis, of a matrix or one row."""
    most = getattr(xp, "amax", None) or xp.max  # torch's max with an axis is a pair
    y = xp.exp(x - most(x, axis=-1, keepdims=True))
    return y / xp.sum(y, axis=-1, keepdims=True)


def mean_squared_error(y: Any, t: Any, xp: Any = np) -> Any:
    """Half the sum of squares of y - t."""
    return 0.5 * xp.sum((y - t) * (y - t))


def cross_entropy_error(y: Any, t: Any, xp: Any = np) -> Any:
    """-sum log2 of the probability of the right class, in bits.

    Args:
        y: [n, classes], probabilities.
        t: [n], the right classes.
        xp: the array module of `y`.
    """
    if len(y.shape) != 2 or len(t.shape) != 1 or y.shape[0] != t.shape[0]:
        raise ShapeError(
            f"cross entropy: probabilities {tuple(y.shape)} and labels {tuple(t.shape)}; they are "
            "[n, classes] and [n]"
        )
    return -xp.sum(xp.log2(y[xp.arange(y.shape[0]), t]))


def softmax_loss(X: Any, t: Any) -> Any:  # noqa: N803 - the name of the original
    """The cross entropy, in bits, of softmax(X) and classes `t`."""
    return cross_entropy_error(softmax(X), np.asarray(t))


def eln(x: Any) -> Any:
    """Ln x, and -inf where x is 0."""
    with np.errstate(divide="ignore"):
        return np.log(x)


def elnsum(x: Any, y: Any) -> Any:
    """Ln (e^x + e^y)."""
    return np.logaddexp(x, y)


def elnprod(x: Any, y: Any) -> Any:
    """Ln (e^x e^y)."""
    return np.add(x, y)

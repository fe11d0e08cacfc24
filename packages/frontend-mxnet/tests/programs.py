"""Data and networks that several tests share."""

from functools import cache
from typing import Any

import numpy as np

import byparts_frontend_mxnet as mx
from byparts_nn.data import digits


@cache
def pixels() -> tuple[Any, Any]:
    """Digits in random order: [n, 64] from 0 to 1, and labels."""
    x, y = digits()
    order = np.random.RandomState(0).permutation(len(x))
    return x.reshape(len(x), 64)[order], y.astype(np.float32)[order]


def batches(first: int, last: int, size: int = 100, **how: Any) -> Any:
    """Batches of digits."""
    x, y = pixels()
    return mx.io.NDArrayIter(x[first:last], y[first:last], size, **how)


def mlp(hidden: int = 64) -> Any:
    """Two layers with names."""
    data = mx.sym.Variable("data")
    fc1 = mx.sym.FullyConnected(data, name="fc1", num_hidden=hidden)
    act1 = mx.sym.Activation(fc1, name="relu1", act_type="relu")
    fc2 = mx.sym.FullyConnected(act1, name="fc2", num_hidden=10)
    return mx.sym.SoftmaxOutput(fc2, name="softmax")


def fitted(epochs: int = 5, **how: Any) -> Any:
    """A module of `mlp` that was trained."""
    np.random.seed(0)
    mx.random.seed(0)
    module = mx.mod.Module(mlp())
    given = {"optimizer_params": {"learning_rate": 0.2, "momentum": 0.9}, **how}
    module.fit(
        batches(0, 1500, shuffle=True), num_epoch=epochs, initializer=mx.init.Xavier(), **given
    )
    return module

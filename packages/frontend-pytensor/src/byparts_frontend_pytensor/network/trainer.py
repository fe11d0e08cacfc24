"""`Trainer`: a model on rows of data, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network.gradient import *  # noqa: F403
from byparts_frontend_pytensor.network.graph import *  # noqa: F403
from byparts_frontend_pytensor.network.optimizer import SGD
from byparts_frontend_pytensor.network.tensor import Tensor


class Trainer:
    """SGD with lr 0.01, one row a step.

    Args:
        model: has `forward(tensor)`, `loss(tensor)` and a graph: itself, or as `model.graph`.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.graph = model, getattr(model, "graph", model)
        self.optimizer = SGD(self.graph.parameter)

    def train(
        self, x_train: Any, y_train: Any, x_test: Any = None, y_test: Any = None, epoch: int = 40
    ) -> None:
        """Train, and print the loss of each epoch and the accuracy on the test rows.

        Args:
            x_train: rows.
            y_train: a label for each, integers or floats.
            x_test: rows to test with.
            y_test: their labels.
            epoch: how many times all rows are shown.
        """
        for number in range(epoch):
            self.graph.train()
            loss = 0.0
            for x, y in zip(x_train, y_train, strict=True):
                self.model.forward(Tensor([x]))
                loss += self.model.loss(Tensor([y]))
                self.graph.backward()
                self.optimizer.update()
            tested = "" if x_test is None else f", acc {self.test(x_test, y_test)}"
            print(f"\repoch {number}: loss {loss}{tested}", end="")

    def test(self, x_test: Any, y_test: Any) -> float:
        """The share of rows whose most probable class is their label."""
        self.graph.eval()
        best = [np.argmax(self.model.forward(Tensor([x])).value[0]) for x in x_test]
        return float(np.mean([int(y) == b for b, y in zip(best, y_test, strict=True)]))

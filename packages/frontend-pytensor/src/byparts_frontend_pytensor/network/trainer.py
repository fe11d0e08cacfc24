"""`Trainer`: a model on rows of data, or on sentences, one at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.network.gradient import *  # noqa: F403
from byparts_frontend_pytensor.network.graph import *  # noqa: F403
from byparts_frontend_pytensor.network.optimizer import SGD
from byparts_frontend_pytensor.network.tensor import Tensor


class Trainer:
    """SGD with lr 0.01, one row a step, of a model with `forward`, `loss` and `backward`.

    The model is a graph, or has one as `model.graph`, or has a `parameter` and no tape.  Rows are
    numbers with a label, or sentences: lists of word ids with lists of those that come next.
    """

    def __init__(self, model: Any) -> None:
        self.model, self.graph = model, getattr(model, "graph", model)
        self.optimizer = SGD(self.graph.parameter)

    def train(
        self, x_train: Any, y_train: Any, x_test: Any = None, y_test: Any = None, epoch: int = 40
    ) -> None:
        """Show the rows `epoch` times; print each epoch's loss, and accuracy or perplexity."""
        for number in range(epoch):
            self._mode("train")
            loss = sum([self.step(x, y) for x, y in zip(x_train, y_train, strict=True)])
            told = "" if x_test is None else f", acc {self.test(x_test, y_test)}"
            if isinstance(y_train[0], list):
                told = f", perplexity {2 ** (loss / sum(map(len, y_train))):.2f}"
            print(f"\repoch {number}: loss {loss}{told}", end="")

    def step(self, x: Any, y: Any) -> Any:
        """Learn a row; its loss."""
        sentence = isinstance(y, list)
        self.model.forward(x if sentence else Tensor([x]))
        loss = self.model.loss(y if sentence else Tensor([y]))
        self.graph.backward()
        self.optimizer.update()
        return loss

    def test(self, x_test: Any, y_test: Any) -> float:
        """The share of rows whose most probable class is their label."""
        self._mode("eval")
        best = [np.argmax(self.model.forward(Tensor([x])).value[0]) for x in x_test]
        return float(np.mean([int(y) == b for b, y in zip(best, y_test, strict=True)]))

    def _mode(self, name: str) -> None:
        getattr(self.graph, name, lambda: None)()  # a model without a tape has no modes

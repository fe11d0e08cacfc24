"""Connectionist temporal classification: labels of a sequence without their times (Graves 2006).

The loss sums the probabilities of all paths of a label with blanks between, forward (alpha) and
backward (beta, without the frame itself), in time x (2 * labels + 1) steps.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from byparts_frontend_pytensor.network import functions
from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.tensor import Tensor, whole
from byparts_frontend_pytensor.ops.loss_ops import Loss
from byparts_graph_ir import ArgumentError


class SoftmaxCTCLoss(Loss):
    """Softmax of a list of frames of shape (classes,); its loss is -ln P(labels), class 0 is blank.

    Attributes:
        labels: the labels with blanks before, between and after.
        lattice: for each frame and label, its `ln_alpha` and `ln_beta`.
    """

    blank_index = 0
    names: ClassVar[tuple[str, str]] = ("ln_alpha", "ln_beta")
    # How probabilities are kept: their sum and product, one of them, nothing and certainty.
    sum, product, kept = (
        staticmethod(np.logaddexp),
        staticmethod(np.add),
        staticmethod(functions.eln),
    )
    nothing, certain = -np.inf, 0.0

    def forward(self, input_tensors: Any) -> list[Tensor]:
        self.register(input_tensors)
        self.num_frame, self.num_class = len(input_tensors), input_tensors[0].value.size
        self.output_tensors = [Tensor.of(functions.softmax(t.value)) for t in input_tensors]
        return self.output_tensors

    def loss(self, labels: Any) -> Any:
        """-ln of the probability of the labels, a list of classes.

        Raises:
            ArgumentError: a label is no class, or there are too few frames for the labels.
        """
        self.origin_labels = whole(labels, "labels").ravel()
        wrong = [k for k in self.origin_labels if not 0 <= k < self.num_class]
        least = len(self.origin_labels) + int((np.diff(self.origin_labels) == 0).sum())
        if wrong or least > self.num_frame:
            raise ArgumentError(
                f"ctc: labels {self.origin_labels.tolist()} for {self.num_frame} frames of classes "
                f"0 to {self.num_class - 1}; they need {least} frames, a blank between equal ones"
            )
        self.labels = [*[k for label in self.origin_labels for k in (0, int(label))], 0]
        self.num_label = len(self.labels)
        self.alpha, self.beta = self._sums()
        self.ln_prob = self.sum.reduce(self.product(self.alpha[0], self.beta[0]))
        return self._loss()

    def _sums(self) -> tuple[Any, Any]:
        path = np.array(self.labels)
        y = self.kept(np.stack([t.value.ravel()[path] for t in self.output_tensors]))
        passes = np.zeros(len(path), bool)  # from two before, over a blank
        passes[2:] = (path[2:] != self.blank_index) & (path[2:] != path[:-2])
        alpha, beta = np.full(y.shape, self.nothing), np.full(y.shape, self.nothing)
        alpha[0, :2], beta[-1, -2:] = y[0, :2], self.certain
        for t in range(1, len(y)):
            ways = self._ways(
                alpha[t - 1], np.where(passes, self._moved(alpha[t - 1], 2), self.nothing), 1
            )
            alpha[t] = self.product(ways, y[t])
        for t in range(len(y) - 2, -1, -1):
            after = self.product(beta[t + 1], y[t + 1])
            beta[t] = self._ways(after, self._moved(np.where(passes, after, self.nothing), -2), -1)
        return alpha, beta

    def _ways(self, row: Any, passed: Any, step: int) -> Any:
        return self.sum(self.sum(row, self._moved(row, step)), passed)

    def _moved(self, row: Any, step: int) -> Any:
        ends = np.full(len(row) + 2 * abs(step), self.nothing)
        ends[abs(step) : abs(step) + len(row)] = row
        return ends[abs(step) - step :][: len(row)]

    def _loss(self) -> Any:
        return -self.ln_prob

    def _shares(self) -> Any:
        return np.exp(self.alpha + self.beta - self.ln_prob)

    def backward(self) -> None:
        """Add softmax - the share of each class in the paths of the labels."""
        shares = self._shares()
        for tensor, y, row in zip(self.input_tensors, self.output_tensors, shares, strict=True):
            grad = y.value.copy()
            np.subtract.at(grad.reshape(-1), self.labels, row)
            tensor.add_grad(grad)

    @property
    def lattice(self) -> list[list[Any]]:
        """A node for each frame and label."""
        rows = zip(self.alpha, self.beta, strict=True)
        return [
            [
                SimpleNamespace(**dict(zip(self.names, pair, strict=True)))
                for pair in zip(a, b, strict=True)
            ]
            for a, b in rows
        ]

"""Connectionist temporal classification: labels of a sequence without their times (Graves 2006).

The loss sums the probabilities of all paths of the labels with blanks between, in time x
(2 * labels + 1) steps; alpha ends with a frame, beta begins after it.
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
    """Softmax of a list of frames (classes,); its loss is -ln P(labels), where class 0 is blank."""

    blank_index = 0
    names: ClassVar[tuple[str, str]] = ("ln_alpha", "ln_beta")  # of a node of the lattice
    # How probabilities are kept: their sum and product, one of them, nothing and certainty.
    ring: ClassVar[Any] = (np.logaddexp, np.add, functions.eln, -np.inf, 0.0)

    def forward(self, input_tensors: Any) -> list[Tensor]:
        self.register(input_tensors)
        self.num_frame, self.num_class = len(input_tensors), input_tensors[0].value.size
        self.output_tensors = [Tensor.of(functions.softmax(t.value)) for t in input_tensors]
        return self.output_tensors

    def loss(self, labels: Any) -> Any:
        """-ln of the probability of a list of classes.

        Raises:
            ArgumentError: a label is no class, or there are too few frames for the labels.
        """
        given = self.origin_labels = whole(labels, "labels").ravel()
        least = len(given) + int((np.diff(given) == 0).sum())
        if least > self.num_frame or not all(0 <= k < self.num_class for k in given):
            raise ArgumentError(
                f"ctc: labels {given.tolist()} for {self.num_frame} frames of classes 0 to "
                f"{self.num_class - 1}; they need {least} frames, a blank between equal ones"
            )
        self.labels = [*[k for label in given for k in (0, int(label))], 0]
        self.num_label = len(self.labels)
        add, multiply, kept = self.ring[:3]
        path = np.array(self.labels)
        y = kept(np.stack([t.value.ravel()[path] for t in self.output_tensors]))
        self.alpha = multiply(self._paths(y, path), y)
        self.beta = self._paths(y[::-1, ::-1], path[::-1])[::-1, ::-1]
        return self.finish(add.reduce(multiply(self.alpha[0], self.beta[0])))

    def _paths(self, y: Any, path: Any) -> Any:
        add, multiply, _, nothing, certain = self.ring
        passes = np.zeros(len(path), bool)  # over a blank, from two before
        passes[2:] = (path[2:] != self.blank_index) & (path[2:] != path[:-2])
        paths = np.full(y.shape, nothing)
        paths[0, :2] = certain
        for t in range(1, len(y)):
            before = np.concatenate([[nothing, nothing], multiply(paths[t - 1], y[t - 1])])
            passed = np.where(passes, before[:-2], nothing)
            paths[t] = add(add(before[2:], before[1:-1]), passed)
        return paths

    def finish(self, prob: Any) -> Any:
        """The loss for the probability, and the share of each node in it."""
        self.ln_prob, self.shares = prob, np.exp(self.alpha + self.beta - prob)
        return -prob

    def backward(self) -> None:
        """Add softmax - the share of each class in the paths of the labels."""
        frames = zip(self.input_tensors, self.output_tensors, self.shares, strict=True)
        for tensor, y, shares in frames:
            grad = y.value.copy()
            np.subtract.at(grad.reshape(-1), self.labels, shares)
            tensor.add_grad(grad)

    @property
    def lattice(self) -> list[list[Any]]:
        """A node for each frame and each of `labels`."""
        a, b = self.names
        pairs = np.stack([self.alpha, self.beta], -1)
        return [[SimpleNamespace(**{a: x, b: y}) for x, y in row] for row in pairs]

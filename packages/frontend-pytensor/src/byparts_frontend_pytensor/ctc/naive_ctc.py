"""CTC with probabilities rather than their logarithms, which underflows for long sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.ctc.ctc import *  # noqa: F403
from byparts_frontend_pytensor.ctc.ctc import SoftmaxCTCLoss


class SoftmaxNaiveCTCLoss(SoftmaxCTCLoss):
    """`SoftmaxCTCLoss` in linear space; nodes of the lattice have `alpha` and `beta`."""

    names = ("alpha", "beta")
    ring = (np.add, np.multiply, np.array, 0.0, 1.0)

    def finish(self, prob: Any) -> Any:
        """The loss for the probability, and the share of each node in it."""
        self.prob, self.shares = prob, self.alpha * self.beta / prob
        return -np.log(prob)

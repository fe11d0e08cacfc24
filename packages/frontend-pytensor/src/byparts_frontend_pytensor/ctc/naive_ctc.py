"""CTC with probabilities rather than their logarithms, which underflows for long sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_frontend_pytensor.ctc.ctc import *  # noqa: F403
from byparts_frontend_pytensor.ctc.ctc import SoftmaxCTCLoss


class SoftmaxNaiveCTCLoss(SoftmaxCTCLoss):
    """`SoftmaxCTCLoss` in linear space; nodes of the lattice have `alpha` and `beta`."""

    names = ("alpha", "beta")
    sum, product, kept = staticmethod(np.add), staticmethod(np.multiply), staticmethod(np.array)
    nothing, certain = 0.0, 1.0

    def _loss(self) -> Any:
        self.prob = self.ln_prob
        return -np.log(self.prob)

    def _shares(self) -> Any:
        return self.alpha * self.beta / self.prob

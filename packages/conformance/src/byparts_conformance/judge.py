"""Whether an answer of a kernel is as good as that of `evaluate`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byparts_conformance.cases import Case
from byparts_conformance.compare import apart, difference, flushed, named
from byparts_conformance.desk import Array


class Judge:
    """What `evaluate` says of some inputs, and whether an answer is as good.

    A device may take numbers below the smallest normal one for 0 (torch does so while a program
    runs, unless asked not to): an element is also right if `evaluate` gives it for such inputs.
    Made outside `within`: a backend may set the processor to that, for NumPy as well.
    """

    def __init__(self, case: Case, arrays: Sequence[Array]) -> None:
        self.case, self.arrays = case, arrays
        self._measure = case.measure(arrays)
        with np.errstate(all="ignore"):
            self.wants = case.op.evaluate(*arrays)
            self._flushed: Sequence[Array] | None = None
            if case.values in ("combinations", "tiny"):
                zeros = [flushed(a, t) for a, t in zip(arrays, case.types, strict=True)]
                self._flushed = case.op.evaluate(*zeros)

    def wrong(self, i: int, got: Array) -> str:
        """What is wrong with output i, or ""."""
        want, t = self.wants[i], self.case.outputs[i]
        said = difference(got, want, t, self._measure)
        if not said or self._flushed is None or got.shape != want.shape or got.dtype != want.dtype:
            return said
        wrong = apart(got, want, t, self._measure)
        return named(got, want, wrong & apart(got, self._flushed[i], t, self._measure))

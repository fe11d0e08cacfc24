"""The results of `evaluate`, and the comparison of a kernel's results with them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byparts_conformance.cases import Case
from byparts_conformance.compare import apart, difference, flushed, named
from byparts_conformance.trial_memory import Array


class Reference:
    """The results of `evaluate` for `arrays`, computed when the reference is made.

    A device may flush subnormal numbers to 0 (torch does so while a program runs, unless asked not
    to), so an element is also right if `evaluate` gives it for inputs with subnormals flushed.
    Make a reference outside `within`: there the backend may have set the processor to flush
    subnormals in NumPy too.
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
        """A sentence that says how `got` differs from output `i`, or ""."""
        want, t = self.wants[i], self.case.outputs[i]
        message = difference(got, want, t, self._measure)
        if (
            not message
            or self._flushed is None
            or got.shape != want.shape
            or got.dtype != want.dtype
        ):
            return message
        wrong = apart(got, want, t, self._measure)
        return named(got, want, wrong & apart(got, self._flushed[i], t, self._measure))

"""Histograms as TensorFlow counts them: buckets that grow by a tenth, from 1e-12 to 1e20.

Source: TensorFlow's `core/lib/histogram/histogram.cc` describes the limits; `HistogramProto` in
`summary.proto` says that a run of empty buckets is written as one.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_tf_files.messages.summary import HistogramProto

_LARGEST = float(np.finfo(np.float64).max)


@cache
def limits() -> NDArray[np.float64]:
    """The upper ends of the buckets, which they do not contain."""
    positive, end = [], 1.0e-12
    while end < 1.0e20:
        positive.append(end)
        end *= 1.1
    positive.append(_LARGEST)
    return np.array([*[-p for p in reversed(positive)], 0.0, *positive])


def histogram_of(values: Any) -> HistogramProto:
    """The histogram of all numbers of an array.

    Raises:
        ValueError: one of them is not finite.
    """
    numbers = np.asarray(values).astype(np.float64).reshape(-1)
    if not np.isfinite(numbers).all():
        kind = "Nan" if np.isnan(numbers).any() else "Infinity"
        raise ValueError(f"{kind} in summary histogram")
    ends = limits()
    places = np.minimum(np.searchsorted(ends, numbers, side="right"), len(ends) - 1)
    counts = np.bincount(places, minlength=len(ends))
    # An empty bucket goes with the next if that is empty, too.
    kept = np.append((counts[:-1] > 0) | (counts[1:] > 0), True)
    made = HistogramProto(
        min=numbers.min() if len(numbers) else _LARGEST,
        max=numbers.max() if len(numbers) else -_LARGEST,
        num=len(numbers),
        sum=np.cumsum(numbers)[-1] if len(numbers) else 0.0,
        sum_squares=np.cumsum(np.square(numbers))[-1] if len(numbers) else 0.0,
    )
    made.bucket_limit.extend(ends[kept].tolist())
    made.bucket.extend(counts[kept].tolist())
    return made

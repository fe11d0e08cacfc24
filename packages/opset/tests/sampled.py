"""Arrays for the samples of an op."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FLOATS, Sample
from byparts_opset.dtypes import numpy_dtype


def arrays(sample: Sample, f32: str = "f64") -> list[NDArray[Any]]:
    """Drawn from the ranges of the sample, whole numbers for integers; f32 becomes `f32`."""
    random = np.random.default_rng(11)
    drawn = []
    for i, t in enumerate(sample.types):
        low, high = sample.ranges[i] if i < len(sample.ranges) else (-1, 1)
        if t.dtype not in FLOATS and i >= len(sample.ranges):
            low, high = 0, 2
        x = np.asarray(random.uniform(low, high, t.dims))
        x = x if t.dtype in FLOATS else np.floor(x)
        drawn.append(x.astype(numpy_dtype(f32 if t.dtype == "f32" else t.dtype)))
    return drawn

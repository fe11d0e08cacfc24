"""Values as text, in as few digits as TensorFlow: what `Print` and `Assert` say."""

from __future__ import annotations

from typing import Any

import numpy as np


def shown(array: Any, summarize: int) -> str:
    """The first elements, as TensorFlow prints them: `[[1 2]...]`."""
    array = np.asarray(array)
    if array.ndim == 0:
        return shown_scalar(array[()])
    most = array.size if summarize < 0 else summarize
    text, _ = _nested(array, most)
    return text


def _nested(array: Any, left: int) -> tuple[str, int]:
    if array.ndim == 1:
        some = [shown_scalar(v) for v in array[:left]]
        more = "..." if len(array) > left else ""
        return f"[{' '.join(some)}{more}]", left - len(some)
    parts: list[str] = []
    for row in array:
        if left <= 0:
            return f"[{''.join(parts)}...]", 0
        text, left = _nested(row, left)
        parts.append(text)
    return f"[{''.join(parts)}]", left


def shown_scalar(value: Any) -> str:
    """A number with as few digits as TensorFlow: 6 (of f64 15) if they say it, else 9 (17)."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if not isinstance(value, (float, np.floating)):
        return str(value)
    wide = isinstance(value, float)  # NumPy's f64, too
    few = f"{value:.15g}" if wide else f"{value:.6g}"
    kind = float if wide else np.float32
    return few if kind(few) == kind(value) or value != value else f"{value:.{17 if wide else 9}g}"

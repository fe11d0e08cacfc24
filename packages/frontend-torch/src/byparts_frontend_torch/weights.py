"""Weights of one program taken from arrays of the same names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_frontend_torch.stream import COUNTER, KEY
from byparts_graph_ir import FLOATS, ArgumentError
from byparts_opset.dtypes import dtype_name

Array = NDArray[Any]


def chosen(
    weights: Mapping[str, Array],
    given: Mapping[str, Array],
    tied: Mapping[str, str],
    unsaved: Iterable[str],
) -> dict[str, Array]:
    """An array for each weight: the one of its name, or of a name that is tied to it.

    Raises:
        ArgumentError: some are missing or do not fit; names them, with the types of both.
    """
    others: dict[str, list[str]] = {}
    for name, first in tied.items():
        others.setdefault(first, []).append(name)
    optional = {KEY, COUNTER, *unsaved}
    made, faults = {}, []
    for name, old in weights.items():
        found = next((n for n in (name, *others.get(name, ())) if n in given), None)
        if found is None and name in optional:
            made[name] = old
        elif found is None:
            faults.append(f"{name} ({_type(old)}) is missing")
        elif not _fits(np.asarray(given[found]), old):
            faults.append(f"{found} is {_type(np.asarray(given[found]))}, not {_type(old)}")
        else:
            made[name] = np.array(given[found], old.dtype)
    if faults:
        shown = "; ".join(faults[:5]) + (f"; and {len(faults) - 5} more" if len(faults) > 5 else "")
        raise ArgumentError(f"with_weights: of {len(weights)} weights, {shown}")
    return made


def _fits(new: Array, old: Array) -> bool:
    alike = new.dtype == old.dtype or {dtype_name(x.dtype) for x in (new, old)} <= FLOATS
    return alike and new.shape == old.shape


def _type(x: Array) -> str:
    return f"{dtype_name(x.dtype)}{list(x.shape)}"

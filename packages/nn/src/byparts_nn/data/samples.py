"""Samples, and batches of them: tuples or dictionaries of arrays, stacked along a new axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import ShapeError

Array = NDArray[Any]
Sample = Union[tuple[Any, ...], dict[str, Any]]
Batch = Union[tuple[Array, ...], dict[str, Array]]
Pads = Union[float, Sequence[Union[float, None]], Mapping[str, Union[float, None]], None]


def as_sample(value: object) -> Sample:
    """A tuple or a dictionary as it is, a list as a tuple, anything else as a tuple of one."""
    if isinstance(value, Mapping):
        return dict(value)
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def as_array(value: object) -> Array:
    """An array as it is; Python's floats as f32, as `byparts_eager.asarray` makes them."""
    array = np.asarray(value)
    is_plain = not hasattr(value, "dtype")
    return array.astype(np.float32) if is_plain and array.dtype == np.float64 else array


def collated(samples: Sequence[Sample], pads: Pads = None, multiple: int = 1) -> Batch:
    """The batch of some samples.

    Args:
        samples: at least one, all of one structure.
        pads: what fills the first axis of an element up to the longest one: a number, or one for
            each element with `None` where nothing is filled.
        multiple: lengths are filled up to a multiple of this.

    Raises:
        ShapeError: elements differ in shape, and are not padded.
    """
    first = samples[0]
    keys: Sequence[Any] = list(first) if isinstance(first, dict) else range(len(first))
    columns = {}
    for key in keys:
        try:
            column = [as_array(sample[key]) for sample in samples]
        except (KeyError, IndexError, TypeError) as error:
            raise ShapeError(f"data: a sample has no element {key!r}; the first one has") from error
        pad = _pad_of(pads, key)
        columns[key] = _stacked(_filled(column, pad, multiple) if pad is not None else column, key)
    return columns if isinstance(first, dict) else tuple(columns.values())


def _pad_of(pads: Pads, key: Any) -> float | None:
    if isinstance(pads, Mapping):
        return pads.get(key)
    if isinstance(pads, Sequence):
        return pads[key] if key < len(pads) else None
    return pads


def _filled(column: Sequence[Array], pad: float, multiple: int) -> Sequence[Array]:
    """The arrays, each as long as the longest one, rounded up; numbers have no length."""
    if any(array.ndim == 0 for array in column):
        return column
    length = -(-max(map(len, column)) // multiple) * multiple
    filled = [np.full((length, *array.shape[1:]), pad, array.dtype) for array in column]
    for whole, array in zip(filled, column, strict=True):
        whole[: len(array)] = array
    return filled


def _stacked(column: Sequence[Array], key: object) -> Array:
    for i, array in enumerate(column):
        if array.shape != column[0].shape:
            one, other = list(column[0].shape), list(array.shape)
            what = f"data: element {key!r} of sample 0 of a batch is {one}, of sample {i} {other}"
            raise ShapeError(
                f"{what}; make them equal with map(f), or pad them with bucket(...); "
                "arrays that belong together are a tuple, (x, labels)"
            )
    return np.stack(column)

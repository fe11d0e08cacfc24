"""Where samples come from: arrays, sequences (also of dictionaries, as Hugging Face's), streams.

A source with a length gives any sample at any time, so that the order of an epoch and the place in
it are numbers.  A stream is read from its start; to resume, what was read is read again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Union

import numpy as np

from byparts_graph_ir import ArgumentError, GraphError, ShapeError
from byparts_nn.data.samples import Array, Batch, Sample, as_array, as_sample


class Arrays:
    """Arrays of one length: sample i has row i of each.

    Args:
        arrays: a tuple or a dictionary of them.

    Raises:
        ShapeError: their lengths differ, or one is a number.
    """

    def __init__(self, arrays: Union[Sequence[Any], Mapping[str, Any]]) -> None:
        named = isinstance(arrays, Mapping)
        rows = arrays.items() if isinstance(arrays, Mapping) else enumerate(arrays)
        self.arrays: dict[Any, Array] = {key: as_array(_numpy(array)) for key, array in rows}
        self._named = named
        shapes = {key: array.shape for key, array in self.arrays.items()}
        if not shapes or any(len(shape) == 0 for shape in shapes.values()):
            raise ShapeError(f"data: arrays of shapes {shapes}; each needs rows, one a sample")
        if len({shape[0] for shape in shapes.values()}) > 1:
            raise ShapeError(f"data: arrays of shapes {shapes} differ in their number of rows")

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __getitem__(self, index: int) -> Sample:
        row: Sample = self._made({key: array[index] for key, array in self.arrays.items()})
        return row

    def take(self, indices: Array) -> Batch:
        """The batch of some rows, without a detour over samples."""
        rows: Batch = self._made({key: array[indices] for key, array in self.arrays.items()})
        return rows

    def _made(self, columns: dict[Any, Any]) -> Any:
        return columns if self._named else tuple(columns.values())


class Items:
    """A sequence of samples: anything with `__len__` and `__getitem__` of a number."""

    def __init__(self, items: Any) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Sample:
        return as_sample(self.items[int(index)])


class Subset:
    """Some samples of a source, numbered anew."""

    def __init__(self, source: Any, indices: Array) -> None:
        self.source, self.indices = source, indices

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: int) -> Sample:
        return as_sample(self.source[int(self.indices[index])])

    def take(self, indices: Array) -> Batch | None:
        """The batch of some samples, where the source makes batches itself."""
        taken: Batch | None = (
            self.source.take(self.indices[indices]) if hasattr(self.source, "take") else None
        )
        return taken


class Stream:
    """Samples that are read one after another.

    Args:
        samples: a function that starts from the first sample at each call, or an iterable.  An
            iterator is good for one epoch.
        batches: whether it gives batches, and not samples.
    """

    def __init__(
        self, samples: Union[Callable[[], Iterable[Any]], Iterable[Any]], batches: bool = False
    ) -> None:
        self._samples, self.batches, self._used = samples, batches, False

    def __iter__(self) -> Iterator[Sample]:
        if callable(self._samples):
            return map(as_sample, iter(self._samples()))
        if isinstance(self._samples, Iterator):
            if self._used:
                what = f"data: an iterator ({type(self._samples).__name__}) cannot start again"
                raise GraphError(f"{what} for another epoch; give a function that makes a new one")
            self._used = True
        return map(as_sample, iter(self._samples))


Source = Union[Arrays, Items, Subset, Stream]


def source_of(data: object) -> Any:
    """The source that `data` means.

    Arrays, alone or in a tuple or a dictionary: `Arrays`.  Another thing with a length and items,
    also a list of samples: `Items`.  A function or an iterator of samples: `Stream`.

    Raises:
        ArgumentError: it is none of these.
    """
    if isinstance(data, (Arrays, Items, Subset, Stream)):
        return data
    if _is_array(data):
        return Arrays((data,))
    values = data.values() if isinstance(data, Mapping) else data
    if isinstance(data, (tuple, Mapping)) and all(map(_is_rows, values)):  # type: ignore[call-overload]
        return Arrays(data)
    if not isinstance(data, (str, bytes, Mapping)):
        if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
            return Items(data)
        if callable(data) or isinstance(data, Iterable):
            return Stream(data)
    kinds = "arrays, a sequence of samples, or a function that gives an iterator of samples"
    raise ArgumentError(f"data: {type(data).__name__} {data!r:.60} is none of {kinds}")


def _is_array(value: object) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and hasattr(value, "__array__")


def _is_rows(value: object) -> bool:
    numbers = (int, float, bool)
    is_list = isinstance(value, list) and bool(value) and isinstance(value[0], (*numbers, list))
    return _is_array(value) or is_list


def _numpy(array: Any) -> Any:
    return np.asarray(array) if _is_array(array) else array

"""Sources of samples: arrays, sequences (also of dictionaries, as Hugging Face's), streams.

A source with a length gives any sample at any time, so that the order of an epoch and the place in
it are numbers.  A stream is read from its start; to resume, it is read again up to the place.
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
        self._named = isinstance(arrays, Mapping)
        rows = arrays.items() if isinstance(arrays, Mapping) else enumerate(arrays)
        self.arrays: dict[Any, Array] = {key: as_array(array) for key, array in rows}
        shapes = {key: array.shape for key, array in self.arrays.items()}
        if not shapes or () in shapes.values():
            raise ShapeError(f"data: arrays of shapes {shapes}; each needs rows, one a sample")
        if len({shape[0] for shape in shapes.values()}) > 1:
            raise ShapeError(f"data: arrays of shapes {shapes} differ in their number of rows")

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def __getitem__(self, index: Any) -> Any:
        """Row `index` of each array; of an array of indices, the batch of these rows."""
        rows = {key: array[index] for key, array in self.arrays.items()}
        return rows if self._named else tuple(rows.values())

    def take(self, numbers: Array) -> Batch:
        """The batch of some rows, without a detour over samples."""
        batch: Batch = self[numbers]
        return batch

    def many(self, numbers: Array) -> list[Sample]:
        """Several samples."""
        return [self[number] for number in numbers]


class Items:
    """Some or all samples of a sequence: anything with `__len__` and `__getitem__` of a number.

    Args:
        items: the sequence.
        indices: which of them, all by default.
    """

    def __init__(self, items: Any, indices: Array | None = None) -> None:
        self.items, self.indices = items, indices

    def __len__(self) -> int:
        return len(self.items if self.indices is None else self.indices)

    def __getitem__(self, index: int) -> Sample:
        return as_sample(self.items[int(index if self.indices is None else self.indices[index])])

    def take(self, numbers: Array) -> Batch | None:
        """The batch of some samples, where these are rows of arrays."""
        is_ours = isinstance(self.items, (Arrays, Items))
        return self.items.take(self._own(numbers)) if is_ours else None

    def many(self, numbers: Array) -> list[Sample]:
        """Several samples; at once where the sequence can, as a Hugging Face data set."""
        own = self._own(numbers)
        if isinstance(self.items, (Arrays, Items)):
            return self.items.many(own)
        at_once = getattr(self.items, "__getitems__", None)
        found = at_once(own.tolist()) if at_once else map(self.items.__getitem__, own.tolist())
        return list(map(as_sample, found))

    def _own(self, numbers: Array) -> Array:
        return numbers if self.indices is None else self.indices[numbers]


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
            return map(as_sample, self._samples())
        if self._used and isinstance(self._samples, Iterator):
            what = f"data: an iterator ({type(self._samples).__name__}) cannot start again"
            raise GraphError(f"{what} for another epoch; give a function that makes a new one")
        self._used = True
        return map(as_sample, self._samples)


Source = Union[Arrays, Items, Stream]


def source_of(data: object) -> Source:
    """The source that `data` means.

    Arrays, alone or in a tuple or a dictionary: `Arrays`.  Another thing with a length and items,
    also a list of samples: `Items`.  A function or an iterator of samples: `Stream`; one of
    batches, if it has a `batch_size`, as loaders of other libraries have.

    Raises:
        ArgumentError: it is none of these.
    """
    if isinstance(data, (Arrays, Items, Stream)):
        return data
    if _is_rows(data) and not isinstance(data, list):
        return Arrays((data,))
    if isinstance(data, Mapping) and all(map(_is_rows, data.values())):
        return Arrays(data)
    if isinstance(data, tuple) and all(map(_is_rows, data)):
        return Arrays(data)
    if not isinstance(data, (str, bytes, Mapping)):
        if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
            return Items(data)
        if callable(data) or isinstance(data, Iterable):
            return Stream(data, batches=hasattr(data, "batch_size"))
    kinds = "arrays, a sequence of samples, or a function that gives an iterator of samples"
    raise ArgumentError(f"data: {type(data).__name__} {data!r:.60} is none of {kinds}")


def _is_rows(value: object) -> bool:
    """Whether a value is an array, or a list of numbers or of such lists."""
    if isinstance(value, list):
        return bool(value) and isinstance(value[0], (int, float, list, np.generic))
    return hasattr(value, "dtype") and hasattr(value, "__array__")

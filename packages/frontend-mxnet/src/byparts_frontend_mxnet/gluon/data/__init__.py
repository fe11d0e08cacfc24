"""`gluon.data`: data sets, samplers, and a loader of batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.gluon.data import vision as vision
from byparts_frontend_mxnet.gluon.data.dataset import (
    ArrayDataset as ArrayDataset,
    Dataset as Dataset,
    SimpleDataset as SimpleDataset,
    as_array,
)
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.stream import numpy_stream


class Sampler:
    """Subclass with `__iter__`, which gives indices, and `__len__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} lacks __iter__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} lacks __len__")


class SequentialSampler(Sampler):
    """0 to length - 1."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(SequentialSampler):
    """0 to length - 1 in random order, another each time."""

    def __iter__(self) -> Iterator[int]:
        return iter(numpy_stream.permutation(self._length).tolist())


class BatchSampler(Sampler):
    """Lists of indices; the last short one is kept, discarded, or begins the next round."""

    def __init__(self, sampler: Any, batch_size: int, last_batch: str = "keep") -> None:
        if last_batch not in ("keep", "discard", "rollover"):
            raise MXNetError(f"last_batch={last_batch!r}; it is 'keep', 'discard' or 'rollover'")
        self._sampler, self._batch_size, self._last_batch = sampler, batch_size, last_batch
        self._rest: list[Any] = []

    def __iter__(self) -> Iterator[list[Any]]:
        batch, self._rest = self._rest, []
        for i in self._sampler:
            batch.append(i)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._rest = batch

    def __len__(self) -> int:
        count = len(self._sampler) + len(self._rest)
        rest = self._batch_size - 1 if self._last_batch == "keep" else 0
        return (count + rest) // self._batch_size


def default_batchify_fn(data: Sequence[Any]) -> Any:
    """Items as one array; of tuples, one for each place."""
    if isinstance(data[0], NDArray):
        return nd.stack(*data, axis=0)
    if isinstance(data[0], tuple):
        return [default_batchify_fn(column) for column in zip(*data, strict=True)]
    return as_array(data)


class DataLoader:
    """Batches of a data set.

    Args:
        dataset: has `__getitem__` and `__len__`.
        batch_size: how many items a batch has.
        shuffle: in random order.
        sampler, batch_sampler: give the indices, or lists of them.
        last_batch: what becomes of a short last one: keep, discard, rollover.
        batchify_fn: makes a batch of a list of items.
        num_workers: taken, and not needed: batches are made when they are asked for.
    """

    def __init__(
        self, dataset: Any, batch_size: Optional[int] = None, shuffle: bool = False,
        sampler: Any = None, last_batch: Optional[str] = None, batch_sampler: Any = None,
        batchify_fn: Optional[Callable[..., Any]] = None, num_workers: int = 0,
    ) -> None:  # fmt: skip
        if batch_sampler is None and batch_size is None:
            raise MXNetError("DataLoader: give batch_size, or a batch_sampler")
        self._dataset, self._batchify_fn = dataset, batchify_fn
        kind = RandomSampler if shuffle else SequentialSampler
        sampler = sampler if sampler is not None else kind(len(dataset))
        self._batches = batch_sampler or BatchSampler(
            sampler, batch_size or 1, last_batch or "keep"
        )

    def __iter__(self) -> Iterator[Any]:
        for indices in self._batches:
            rows = getattr(self._dataset, "rows", None) if self._batchify_fn is None else None
            if rows is not None:
                yield rows(indices)
            else:
                items = [self._dataset[i] for i in indices]
                yield (self._batchify_fn or default_batchify_fn)(items)

    def __len__(self) -> int:
        return len(self._batches)

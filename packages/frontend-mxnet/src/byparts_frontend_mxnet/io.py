"""Batches: iterators over arrays and files, with the names and shapes that modules bind to."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_engine import Engine
from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.test_utils import read_idx
from byparts_graph_ir import ArgumentError, ShapeError

Named = list[tuple[str, NDArray[Any]]]


class _Desc(NamedTuple):
    name: str
    shape: tuple[int, ...]


class DataDesc(_Desc):
    """Name and shape of an array of a batch: a pair, with `dtype` and `layout` beside it."""

    dtype: Any
    layout: Optional[str]

    def __new__(
        cls, name: str, shape: Sequence[int], dtype: Any = np.float32, layout: Any = "NCHW"
    ) -> DataDesc:
        self = super().__new__(cls, name, tuple(shape))
        self.dtype, self.layout = dtype, layout
        return self

    @staticmethod
    def get_batch_axis(layout: Optional[str]) -> int:
        """The axis of the samples, `N` in the layout; 0 without one."""
        return layout.find("N") if layout else 0

    @staticmethod
    def get_list(
        shapes: Sequence[Any], types: Optional[Sequence[tuple[str, Any]]]
    ) -> list[DataDesc]:
        """Descriptions from pairs (name, shape) and pairs (name, dtype)."""
        dtypes = dict(types or ())
        return [DataDesc(name, shape, dtypes.get(name, np.float32)) for name, shape in shapes]


class DataBatch:
    """Arrays of one step.

    Attributes:
        data: arrays.
        label: arrays, or `None`.
        pad: how many samples at the end repeat others.
        index: numbers of the samples.
        bucket_key: which program of a `BucketingModule` takes it.
        provide_data: names and shapes of `data`.
        provide_label: names and shapes of `label`.
    """

    def __init__(
        self, data: Any, label: Any = None, pad: Optional[int] = None, index: Any = None,
        bucket_key: Any = None, provide_data: Any = None, provide_label: Any = None,
    ) -> None:  # fmt: skip
        for what, arrays in (("data", data), ("label", label)):
            if not isinstance(arrays, (list, tuple, type(None))):
                raise ArgumentError(f"DataBatch: {what} is a list of arrays; write [{what}]")
        self.data, self.label, self.pad, self.index = data, label, pad, index
        self.bucket_key = bucket_key
        self.provide_data, self.provide_label = provide_data, provide_label


class DataIter:
    """An iterator over batches, which `reset` starts again; subclasses give `next` or `iter_next`.

    Args:
        batch_size: samples in a batch.
    """

    provide_data: Any = None
    provide_label: Any = None

    def __init__(self, batch_size: int = 0) -> None:
        self.batch_size = batch_size

    def __iter__(self) -> DataIter:
        return self

    def __next__(self) -> Any:
        return self.next()

    def reset(self) -> None:
        """Go back to the first batch."""

    def next(self) -> Any:
        """The next batch.

        Raises:
            StopIteration: there is none.
        """
        if not self.iter_next():
            raise StopIteration
        return DataBatch(self.getdata(), self.getlabel(), self.getpad(), self.getindex())

    def iter_next(self) -> bool:
        """Move on to the next batch; whether there is one."""
        raise NotImplementedError(f"{type(self).__name__} lacks next() or iter_next()")

    def getdata(self) -> Any:
        """The arrays of this batch."""

    def getlabel(self) -> Any:
        """The labels of this batch."""

    def getindex(self) -> Any:
        """The numbers of its samples."""

    def getpad(self) -> Any:
        """The number of samples at its end that repeat others."""


class NDArrayIter(DataIter):
    """Batches of arrays in memory.

    Args:
        data: an array, a list of arrays, or a dict of arrays by name.
        label: likewise.
        batch_size: samples in a batch.
        shuffle: whether the samples are put in random order, once, by `numpy.random`.
        last_batch_handle: "pad" fills the last batch with the first samples, "discard" leaves it
            out, "roll_over" fills it likewise and begins the next round behind those.
        data_name: name of an array that has none.
        label_name: likewise.
    """

    def __init__(
        self, data: Any, label: Any = None, batch_size: int = 1, shuffle: bool = False,
        last_batch_handle: str = "pad", data_name: str = "data", label_name: str = "softmax_label",
    ) -> None:  # fmt: skip
        super().__init__(batch_size)
        self.data = _init_data(data, False, data_name)
        self.label = _init_data(label, True, label_name)
        lengths = {name: len(x) for name, x in self.data + self.label}
        self.num_data = len(self.data[0][1]) if self.data else 0
        if set(lengths.values()) != {self.num_data}:
            raise ShapeError(f"NDArrayIter: arrays of different lengths: {lengths}")
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise ArgumentError(f"last_batch_handle={last_batch_handle!r}: pad, discard, roll_over")
        if self.num_data < batch_size:
            raise ShapeError(f"NDArrayIter: {self.num_data} samples for a batch of {batch_size}")
        self.idx = np.arange(self.num_data)
        if shuffle:
            np.random.shuffle(self.idx)
        self.last_batch_handle = last_batch_handle
        self.cursor = -batch_size

    @property
    def provide_data(self) -> list[DataDesc]:
        """Names and shapes of the arrays of a batch."""
        return self._described(self.data)

    @property
    def provide_label(self) -> list[DataDesc]:
        """Names and shapes of the labels of a batch."""
        return self._described(self.label)

    def _described(self, arrays: Named) -> list[DataDesc]:
        return [DataDesc(k, (self.batch_size, *v.shape[1:]), v.dtype) for k, v in arrays]

    def hard_reset(self) -> None:
        """Go back to the first sample, also where a batch was to roll over."""
        self.cursor = -self.batch_size

    def reset(self) -> None:
        self.cursor, past = -self.batch_size, self.cursor - self.num_data
        if self.last_batch_handle == "roll_over" and past > 0:
            self.cursor += past % self.batch_size  # the first samples were in the last batch

    def iter_next(self) -> bool:
        self.cursor += self.batch_size
        whole = self.batch_size if self.last_batch_handle == "discard" else 1
        return self.cursor + whole <= self.num_data

    def getindex(self) -> Any:
        return self.idx.take(range(self.cursor, self.cursor + self.batch_size), mode="wrap")

    def getdata(self) -> Any:
        return self._rows(self.data)

    def getlabel(self) -> Any:
        return self._rows(self.label)

    def _rows(self, arrays: Named) -> list[Any]:
        rows = self.getindex()
        return [nd.array(x[rows], dtype=x.dtype) for _, x in arrays]

    def getpad(self) -> int:
        missing = max(0, self.cursor + self.batch_size - self.num_data)
        return missing if self.last_batch_handle == "pad" else 0


class ResizeIter(DataIter):
    """Rounds of `size` batches of another iterator, which starts again where it ends."""

    def __init__(self, data_iter: Any, size: int, reset_internal: bool = True) -> None:
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.reset_internal = data_iter, size, reset_internal
        self.provide_data, self.provide_label = data_iter.provide_data, data_iter.provide_label
        self.cur = 0

    def reset(self) -> None:
        self.cur = 0
        if self.reset_internal:
            self.data_iter.reset()

    def next(self) -> Any:
        if self.cur == self.size:
            raise StopIteration
        self.cur += 1
        try:
            return self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            return self.data_iter.next()


class PrefetchingIter(DataIter):
    """Batches of iterators side by side, the next of which is made by a thread meanwhile.

    Args:
        iters: an iterator, or several whose arrays are joined to one batch.
        rename_data: for each iterator, a dict of new names.
        rename_label: likewise.
    """

    def __init__(self, iters: Any, rename_data: Any = None, rename_label: Any = None) -> None:
        self.iters = list(iters) if isinstance(iters, (list, tuple)) else [iters]
        super().__init__(self.iters[0].provide_data[0][1][0])
        self.provide_data = self._renamed("provide_data", rename_data)
        self.provide_label = self._renamed("provide_label", rename_label)
        self._engine = Engine(workers=len(self.iters))
        self._places = [self._engine.new_variable(f"iterator {i}") for i in range(len(self.iters))]
        self._batches: list[deque[Any]] = [deque() for _ in self.iters]
        self._fetch()

    def _renamed(self, what: str, renames: Any) -> list[DataDesc]:
        renames = renames or [{}] * len(self.iters)
        pairs = [(d, names) for i, names in zip(self.iters, renames) for d in getattr(i, what)]  # noqa: B905
        return [DataDesc(names.get(d[0], d[0]), d[1]) for d, names in pairs]

    def _fetch(self) -> None:
        for i, place in enumerate(self._places):
            self._engine.push(partial(self._take, i), writes=[place])

    def _take(self, i: int) -> None:
        self._batches[i].append(next(self.iters[i], None))

    def reset(self) -> None:
        for i, place in enumerate(self._places):
            self._engine.push(partial(self._begin, i), writes=[place])
        self._fetch()

    def _begin(self, i: int) -> None:
        self.iters[i].reset()
        self._batches[i].clear()

    def next(self) -> Any:
        for place in self._places:
            self._engine.wait_for(place)
        batches: list[Any] = [b.popleft() if b else None for b in self._batches]
        if any(b is None for b in batches):
            raise StopIteration
        self._fetch()
        data = [x for b in batches for x in b.data]
        label = [x for b in batches for x in b.label or ()]
        return DataBatch(data, label, batches[0].pad, batches[0].index)


def CSVIter(  # noqa: N802  # a class in MXNet
    data_csv: str,
    data_shape: Sequence[int],
    label_csv: Optional[str] = None,
    label_shape: Sequence[int] = (1,),
    batch_size: int = 1,
    round_batch: bool = True,
    **names: Any,
) -> NDArrayIter:
    """Batches of the rows of a CSV file; labels are 0 without a file of them."""
    data = np.loadtxt(data_csv, np.float32, delimiter=",", ndmin=2).reshape(-1, *data_shape)
    label = np.zeros((len(data), *label_shape), np.float32)
    if label_csv is not None:
        label = np.loadtxt(label_csv, np.float32, delimiter=",", ndmin=2).reshape(label.shape)
    label = label.reshape(-1) if tuple(label_shape) == (1,) else label
    last = "pad" if round_batch else "discard"
    return NDArrayIter(data, label, batch_size, last_batch_handle=last, **names)


def MNISTIter(  # noqa: N802  # likewise
    image: str,
    label: str,
    batch_size: int = 128,
    shuffle: bool = True,
    flat: bool = False,
    seed: int = 0,
    silent: bool = False,
    input_shape: Optional[Sequence[int]] = None,
    data_shape: Optional[Sequence[int]] = None,
    num_parts: int = 1,
    part_index: int = 0,
    **names: Any,
) -> NDArrayIter:
    """Batches of local files in MNIST's format (plain or .gz), with pixels from 0 to 1."""
    pixels = read_idx(image)
    data = pixels.reshape(len(pixels), *((-1,) if flat else (1, *pixels.shape[1:]))) / np.float32(
        255
    )
    shape = input_shape or data_shape
    data = (data.reshape(-1, *shape) if shape else data)[part_index::num_parts]
    labels = read_idx(label).astype(np.float32)[part_index::num_parts]
    if shuffle:
        order = np.random.RandomState(seed).permutation(len(data))
        data, labels = data[order], labels[order]
    return NDArrayIter(data, labels, batch_size, last_batch_handle="discard", **names)


def ImageRecordIter(*_: Any, **__: Any) -> NDArrayIter:  # noqa: N802  # likewise
    """Refused.

    Raises:
        MXNetError: always.
    """
    raise MXNetError(
        "ImageRecordIter: records of images are not read here; decode the images, and give their "
        "arrays to NDArrayIter"
    )


def _init_data(arrays: Any, allow_empty: bool, default_name: str) -> Named:
    """Pairs of name and NumPy array; numbers become f32, as MXNet's do, arrays of its own stay."""
    if arrays is None and allow_empty:
        return []
    if isinstance(arrays, Mapping):
        pairs = list(arrays.items())
    elif isinstance(arrays, (list, tuple)):
        several = len(arrays) > 1
        pairs = [
            (f"_{i}_{default_name}" if several else default_name, x) for i, x in enumerate(arrays)
        ]
    else:
        pairs = [(default_name, arrays)]
    return [
        (k, x.asnumpy() if hasattr(x, "asnumpy") else np.asarray(x, np.float32)) for k, x in pairs
    ]

"""Data sets: items by index, and functions of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.nd.array import NDArray


class Dataset:
    """Subclass with `__getitem__(i)` and `__len__`."""

    def __getitem__(self, i: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} lacks __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} lacks __len__")

    def transform(self, fn: Callable[..., Any], lazy: bool = True) -> Dataset:
        """The data set of fn(item), of fn(*item) where items are tuples."""
        new = _Transformed(self, fn)
        return new if lazy else SimpleDataset([new[i] for i in range(len(new))])


class _Transformed(Dataset):
    def __init__(self, data: Any, fn: Callable[..., Any]) -> None:
        self._data, self._fn = data, fn

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, i: int) -> Any:
        item = self._data[i]
        return self._fn(*item) if isinstance(item, tuple) else self._fn(item)


class SimpleDataset(Dataset):
    """The items of a list."""

    def __init__(self, data: Any) -> None:
        self._data = data

    def __len__(self) -> int:
        return len(self._data)

    def __getitem__(self, i: int) -> Any:
        return self._data[i]


class ArrayDataset(Dataset):
    """Arrays or lists of one length; items are tuples of one of each, or the one alone."""

    def __init__(self, *args: Any) -> None:
        lengths = {len(a) for a in args}
        if len(lengths) != 1:
            raise MXNetError(f"ArrayDataset: the lengths differ: {[len(a) for a in args]}")
        self._data = [a.asnumpy() if isinstance(a, NDArray) else a for a in args]
        self._is_array = [isinstance(a, NDArray) for a in args]

    def __len__(self) -> int:
        return len(self._data[0])

    def __getitem__(self, i: Any) -> Any:
        pairs = zip(self._data, self._is_array, strict=True)
        row = [
            nd.array(a[i], dtype=a.dtype) if is_array and np.ndim(a[i]) else a[i]
            for a, is_array in pairs
        ]
        return row[0] if len(row) == 1 else tuple(row)

    @property
    def rows(self) -> Any:
        """A function of a list of indices that gives a batch at once; `None` if some is a list."""
        if not all(isinstance(a, np.ndarray) for a in self._data):
            return None

        def batch(indices: Any) -> Any:
            arrays = [as_array(a[indices]) for a in self._data]
            return arrays[0] if len(arrays) == 1 else arrays

        return batch


def as_array(elements: Any) -> NDArray:
    """An NDArray of the dtype of NumPy's, f32 of f64."""
    x = np.asarray(elements)
    return nd.array(x, dtype=np.float32 if x.dtype == np.float64 else x.dtype)

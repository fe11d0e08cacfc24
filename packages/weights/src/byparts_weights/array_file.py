"""`ArrayFile`: what an open file of named arrays offers, whatever its format."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from byparts_graph_ir import FormatError, TensorType
from byparts_weights.dtypes import Array


class ArrayFile(ABC):
    """The arrays of a file that is open for reading.  Types are read without reading the arrays."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the arrays, in the order of the file."""

    @abstractmethod
    def type(self, name: str) -> TensorType:
        """The type of an array.

        Raises:
            FormatError: its header is damaged, or graph-ir has no such dtype.
        """

    def read(self, name: str) -> Array:
        """An array, in memory of its own.

        Raises:
            FormatError: it is damaged; where.
        """
        array = self._read(name)
        if array.dtype == bool and array.size:
            greatest = int(array.view(np.uint8).max())
            if greatest > 1:  # NumPy's sums would count it as more than one
                what = f"in {name!r} a bool is the byte {greatest}; expected 0 or 1"
                raise FormatError(f"{self.path} is damaged: {what}")
        return array

    @abstractmethod
    def _read(self, name: str) -> Array:
        """`read`, before the values of bools are checked."""

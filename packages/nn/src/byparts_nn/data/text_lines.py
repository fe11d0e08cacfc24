"""Lines of a text file, read where they stand: the file may be larger than memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from os import PathLike
from typing import Any, Union

import numpy as np

from byparts_graph_ir import FormatError


class TextLines:
    """The lines of a text file, without their ends: a sequence for `Data`.

    The file is read once for the places of the lines, 8 bytes each.  It must not change meanwhile.

    Args:
        path: the file.
        encoding: of the text; one in which a line ends with the byte of a newline, as UTF-8.

    Raises:
        OSError: the file cannot be read.
    """

    def __init__(self, path: Union[str, PathLike[str]], encoding: str = "utf-8") -> None:
        self.path, self.encoding = os.fspath(path), encoding
        with open(self.path, "rb") as file:
            sizes = np.fromiter(map(len, file), np.int64)
        self._ends = np.cumsum(sizes)
        self._bytes: Any = None

    def __len__(self) -> int:
        return len(self._ends)

    def __getitem__(self, index: int) -> str:
        if not -len(self) <= index < len(self):
            raise IndexError(f"{self.path} has {len(self)} lines, and no line {index}")
        index %= len(self)
        if self._bytes is None:
            self._bytes = np.memmap(self.path, np.uint8, "r")
        start = self._ends[index - 1] if index else 0
        line = self._bytes[start : self._ends[index]].tobytes()
        try:
            text: str = line.decode(self.encoding)
        except UnicodeDecodeError as error:
            raise FormatError(f"{self.path}:{index + 1}: {error}; give its encoding=") from error
        return text.rstrip("\r\n")

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(len(self)))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bytes": None}  # mapped again in the process that it goes to

"""A shared object of NVIDIA's, by ctypes: where it is, and functions that raise their status.

As of the driver (`driver/api.py`), a status of 0 runs no Python, so that a call of a library can be
a step of a program that Ctrl-C does not cut in two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from ctypes import CDLL, c_char_p, c_int
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from byparts_graph_ir import GraphError


class LibraryError(GraphError):
    """A function of a library that failed: it does not take these arguments, or has no memory."""


class Library:
    """The functions of a library as attributes; each raises where its status is not 0.

    Args:
        handle: has functions of these names: a `ctypes.CDLL`, or a double.
        functions: name -> types of the arguments.
        words: the name of the function that says what a status means.

    Attributes:
        handle: as given.

    Raises:
        LibraryError: from each function.
    """

    def __init__(self, handle: Any, functions: Mapping[str, Sequence[Any]], words: str) -> None:
        self.handle = handle
        self._words = getattr(handle, words)
        self._words.argtypes, self._words.restype = (c_int,), c_char_p
        for name, types in functions.items():
            function = getattr(handle, name)
            function.argtypes = types
            function.restype = _Statuses(self, name).__getitem__
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:  # for the type checker: `__init__` sets them
        raise AttributeError(name)

    def describe(self, status: int) -> str:
        """Describe a status in the words of the library."""
        said = self._words(status)
        return said.decode(errors="replace") if said else "unknown"


class _Statuses(dict[int, None]):
    """0 -> None; any other status raises the error of a function."""

    def __init__(self, library: Library, name: str) -> None:
        super().__init__({0: None})
        self.library, self.name = library, name

    def __missing__(self, status: int) -> None:
        words = self.library.describe(status)
        raise LibraryError(f"{self.name} failed with {status}: {words}")


def opened(stem: str, versions: Sequence[str]) -> CDLL | None:
    """The shared object `lib{stem}.so.{version}`, from a wheel or the system; `None` without one.

    `BYPARTS_{STEM}` names the file; empty, it says that there is none.

    Args:
        stem: its name.
        versions: those that are looked for in the system, the best one first.
    """
    for path in _places(stem, versions):
        try:
            return CDLL(path)
        except OSError:
            continue
    return None


def _places(stem: str, versions: Sequence[str]) -> Iterator[str]:
    told = os.environ.get(f"BYPARTS_{stem.upper()}")
    if told is not None:
        yield from [told] if told else []
        return
    wheels = find_spec("nvidia")
    for folder in (wheels.submodule_search_locations or ()) if wheels else ():
        for version in versions:
            yield from map(str, sorted(Path(folder).glob(f"*/lib/lib{stem}.so.{version}")))
    yield from [f"lib{stem}.so.{version}" for version in versions]

"""Readers to fuzz: right files, a way to change one, the reader, a check of what it accepts."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Union

from byparts_graph_ir import FormatError

Data = Union[str, bytes]


@dataclass(frozen=True)
class Reader:
    """A reader to fuzz.

    Attributes:
        name: what the command line calls it.
        seeds: right files, or what `mutate` makes files of.
        mutate: a changed file of a seed.
        read: gives what the file holds.
        check: raises AssertionError where that is not sound.
        refusals: the errors that are right.
    """

    name: str
    seeds: Sequence[Any]
    mutate: Callable[[Random, Any], Data]
    read: Callable[[Any], Any]
    check: Callable[[Any], None]
    refusals: tuple[type[Exception], ...] = (FormatError,)

    def data(self, seed: int, i: int) -> Data:
        """The file of one try; always the same for the same numbers."""
        random = Random(f"{self.name} {seed} {i}")
        return self.mutate(random, random.choice(self.seeds))


def scratch_folder() -> Path:
    """For the files of a reader that takes a path; removed when the process ends."""
    folder = Path(mkdtemp(prefix="fuzz-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder

"""The entry points of installed distributions, read from their files.

`importlib.metadata` gives the same, and importing it takes longer than all else that the hub does:
it imports email, zipfile and csv.  So the folders of `sys.path` are read here, by the rules of
https://packaging.python.org/en/latest/specifications/entry-points/, and `importlib.metadata` is
asked only where that is not enough: a path that is a file (a zip archive or an egg), or a finder
of somebody else's that knows distributions.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import reduce
from importlib import import_module
from importlib.machinery import PathFinder
from typing import NamedTuple

from byparts_graph_ir.errors import PartError

_VALUE = re.compile(r"(?P<module>[\w.]+)\s*(:\s*(?P<attr>[\w.]+)\s*)?(\[.*\]\s*)?$")


class EntryPoint(NamedTuple):
    """A name, and the object that an installed distribution gives it.

    Attributes:
        value: "module" or "module:object".
        distribution, version: of the distribution; "?" where its metadata does not say.
    """

    name: str
    value: str
    distribution: str
    version: str

    def split(self) -> tuple[str, str]:
        """The module and, perhaps empty, what of it.

        Raises:
            PartError: the value is written in no such way.
        """
        match = _VALUE.match(self.value)
        if match is None:
            raise PartError(f"entry point {self.name} = {self.value!r} is no 'module:object'")
        return match["module"], match["attr"] or ""

    def load(self) -> object:
        """Import the module and return the object."""
        module, attr = self.split()
        return reduce(getattr, attr.split(".") if attr else (), import_module(module))


def entry_points(group: str) -> list[EntryPoint]:
    """The entry points of a group, of the distributions that Python would import from, by name.

    Of two distributions of one name the first on `sys.path` counts.  O(entries of its folders).
    """
    seen: set[str] = set()
    points: list[EntryPoint] = []
    if _folders_suffice():
        for folder in sys.path:
            points += _of_folder(folder or ".", group, seen)
    else:
        from importlib.metadata import entry_points as all_of  # see above

        for e in all_of(group=group):
            name, version = (e.dist.name, e.dist.version) if e.dist else ("?", "?")
            points.append(EntryPoint(e.name, e.value, name, version))
    return sorted(points, key=lambda e: (e.name, e.distribution, e.version))


def _folders_suffice() -> bool:
    return not any(
        hasattr(finder, "find_distributions") and finder is not PathFinder
        for finder in sys.meta_path
    ) and not any(os.path.isfile(path) or path.endswith(".egg") for path in sys.path)


def _of_folder(folder: str, group: str, seen: set[str]) -> Iterator[EntryPoint]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:  # a path that is not there, which Python passes over too
        return
    for info in names:
        stem, _, kind = info.rpartition(".")
        if kind not in ("dist-info", "egg-info"):
            continue
        normal = re.sub(r"[-_.]+", "-", stem.partition("-")[0]).lower()
        if normal in seen:
            continue
        seen.add(normal)
        pairs = list(_pairs(_read(folder, info, "entry_points.txt"), group))
        if pairs:
            text = _read(folder, info, "METADATA") or _read(folder, info, "PKG-INFO")
            for name, value in pairs:
                yield EntryPoint(name, value, _header(text, "Name"), _header(text, "Version"))


def _read(*path: str) -> str:
    try:
        with open(os.path.join(*path), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # a distribution without this file
        return ""


def _pairs(text: str, group: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
        elif section == group and line and line[0] not in "#;":
            name, _, value = line.partition("=")
            yield name.strip(), value.strip()


def _header(metadata: str, name: str) -> str:
    """A header of a distribution's metadata, which ends at the first empty line."""
    head = metadata.partition("\n\n")[0]
    match = re.search(rf"^{name}:[ \t]*(.+?)[ \t\r]*$", head, re.MULTILINE | re.IGNORECASE)
    return match[1] if match else "?"

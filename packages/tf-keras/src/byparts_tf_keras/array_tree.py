"""Groups of arrays in a file, for where there is no h5py: the part of its interface that is used.

The file is a zip of NumPy arrays (`.npz`), whatever its name ends with.  Only this part reads it.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from byparts_graph_ir import FormatError
from byparts_tf_files.array_files import arrays_of

_ATTRIBUTES = "attributes"


class Group:
    """Arrays, groups and attributes by their names."""

    def __init__(self) -> None:
        self.attrs: dict[str, Any] = {}
        self._inside: dict[str, Any] = {}

    def create_group(self, name: str) -> Group:
        """A new group."""
        group = self._inside[name] = Group()
        return group

    def create_dataset(self, name: str, data: Any) -> None:
        """Keep an array."""
        self._inside[name] = np.asarray(data)

    def __getitem__(self, name: str) -> Any:
        return self._inside[name]

    def __contains__(self, name: str) -> bool:
        return name in self._inside

    def rows(self, prefix: str = "") -> dict[str, Any]:
        """Path -> array, of all inside."""
        rows: dict[str, Any] = {}
        for name, thing in self._inside.items():
            path = f"{prefix}{name.replace('/', '|')}/"
            rows.update(thing.rows(path) if isinstance(thing, Group) else {path[:-1]: thing})
        return rows

    def said(self, prefix: str = "") -> dict[str, Any]:
        """Path -> attributes, of all groups inside."""
        texts = {prefix: {k: _text(v) for k, v in self.attrs.items()}}
        for name, thing in self._inside.items():
            if isinstance(thing, Group):
                texts.update(thing.said(f"{prefix}{name.replace('/', '|')}/"))
        return texts

    def at(self, path: str) -> Group:
        """The group at a path, made if it is not there."""
        group = self
        for name in [n.replace("|", "/") for n in path.split("/") if n]:
            inner = group._inside.get(name)
            group = inner if isinstance(inner, Group) else group.create_group(name)
        return group


class File(Group):
    """A group in a file: written at the end of the block, or read at its beginning.

    Raises:
        FormatError: the file is damaged.
    """

    def __init__(self, path: str, mode: str) -> None:
        super().__init__()
        self._path, self._mode = path, mode
        if mode == "r":
            self._read()

    def __enter__(self) -> File:
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if self._mode == "w" and kind is None:
            arrays = {f"a/{k}": v for k, v in self.rows().items()}
            arrays[_ATTRIBUTES] = np.frombuffer(json.dumps(self.said()).encode(), np.uint8)
            with open(self._path, "wb") as file:
                np.savez(file, **arrays)

    def _read(self) -> None:
        try:
            arrays = arrays_of(self._path)
            for path, attributes in json.loads(arrays.pop(_ATTRIBUTES).tobytes()).items():
                self.at(path).attrs.update(attributes)
            for key, array in arrays.items():
                group, _, name = key.removeprefix("a/").rpartition("/")
                self.at(group).create_dataset(name.replace("|", "/"), array)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise FormatError(f"{self._path} is no file of arrays of this part: {error}") from error


def _text(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode()
    return [_text(v) for v in value] if isinstance(value, (list, tuple)) else value

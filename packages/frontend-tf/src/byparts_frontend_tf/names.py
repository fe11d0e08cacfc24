"""The tables of TensorFlow's names: each name -> where its object is, "module:name".

`names.tsv` has those of this part.  Other parts add theirs with a record of the hub,
`Names("tf", "byparts_tf_keras:names.tsv")`, so that `tf.keras` is there where its part is.  They
are asked when this part has not what a program wants.  `python tools/tf_symbols.py` writes
the tables from what modules say of themselves (`symbols.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from warnings import warn

PACKAGE = __name__.rpartition(".")[0]


@cache
def own() -> dict[str, str]:
    """The names of this part, without the "tf.", and the place of each object."""
    return _read("names.tsv")


@cache
def table() -> dict[str, str]:
    """The names of this part and of all installed parts that add some; this part's come first."""
    return added("tf") | own()


def added(api: str) -> dict[str, str]:
    """Names that installed parts add to an API: "tf", or "tf-kinds" for operations of files.

    A table that cannot be read is said by a warning, and hurts no other name.
    """
    from byparts_graph_ir.parts.hub import (
        PartError,
        parts,  # looking for parts takes milliseconds
        resolve,
    )

    names: dict[str, str] = {}
    for part, record in parts.records("names"):
        if record.name == api:
            try:
                names |= resolve("names", part, record)
            except PartError as error:
                warn(f"names of TensorFlow are missing: {error}", stacklevel=2)
    return names


def place(name: str) -> str | None:
    """Find the object of a name: "module:name", or `None` if no part has it."""
    return own().get(name) or table().get(name)


def is_space(name: str) -> bool:
    """Whether a name is a namespace, such as `nn.rnn_cell` of `nn.rnn_cell.LSTMCell`."""
    return name in _own_spaces() or name in _spaces()


@cache
def _own_spaces() -> frozenset[str]:
    return _spaces_of(own())


@cache
def _spaces() -> frozenset[str]:
    return _spaces_of(table())


def _spaces_of(names: Iterable[str]) -> frozenset[str]:
    spaces = {name.rpartition(".")[0] for name in names}
    while outer := {space.rpartition(".")[0] for space in spaces} - spaces:
        spaces |= outer
    return frozenset(spaces - {""})


@cache
def by_last_part() -> dict[str, tuple[str, ...]]:
    """The last part of names -> the names, the shortest first."""
    names: dict[str, tuple[str, ...]] = {}
    for name in sorted(table(), key=lambda n: (len(n), n)):
        last = name.rpartition(".")[2]
        names[last] = (*names.get(last, ()), name)
    return names


def provider(name: str) -> str:
    """The part that gives a name and is not installed; "": none does.

    A row of `parts.tsv` is a name or a namespace all of whose names one part gives.
    """
    known = _read("parts.tsv")
    inside = [part for row, part in known.items() if row.startswith(f"{name}.")]
    part = max(inside, key=inside.count, default="")
    while name and not part:
        part = known.get(name, "")
        name = name.rpartition(".")[0]
    module = part.replace("-", "_") + "."
    return "" if any(place.startswith(module) for place in table().values()) else part


def _read(file: str) -> dict[str, str]:
    """Read a table as `Names.resolve` does, without the hub: most programs need no other part."""
    text = __spec__.loader.get_data(str(Path(__file__).with_name(file))).decode()  # type: ignore[union-attr]
    return dict([line.split("\t", 1) for line in text.splitlines()])

"""The table of TensorFlow's names: each name -> where its object is, "module:name".

`names.tsv` is data, written by `python integration/tf_symbols.py` from what modules say of
themselves (`symbols.py`).  It is read when a program first uses a name.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

PACKAGE = __name__.rpartition(".")[0]


@cache
def table() -> dict[str, str]:
    """Every name, without the "tf.", and the place of its object."""
    return read(PACKAGE, "names.tsv")


@cache
def namespaces() -> frozenset[str]:
    """Every namespace of a name: of `nn.rnn_cell.LSTMCell` these are `nn` and `nn.rnn_cell`."""
    spaces = {name.rpartition(".")[0] for name in table()}
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


def read(package: str, file: str) -> dict[str, str]:
    """Read the table in a file of a package: a name, a tab, and a place in each line."""
    module: Any = import_module(package)
    loader = module.__spec__.loader  # which also reads wheels that are not unpacked
    text = loader.get_data(str(Path(module.__file__).with_name(file))).decode()
    return dict([line.split("\t", 1) for line in text.splitlines()])

"""Collects the names that the modules of a package give, for its `names.tsv`.

python -m byparts_frontend_tf.written_names byparts_theirs      # writes byparts_theirs/names.tsv
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

from byparts_frontend_tf.symbols import MARKED

_NOT_IMPORTED = (".__main__", ".written_names")


def collect(package: str) -> dict[str, str]:
    """Every name that a module of a package gives -> "module:name".  Imports all its modules.

    Raises:
        ValueError: a name is given two places.
    """
    names: dict[str, str] = {}
    for info in walk_packages(import_module(package).__path__, f"{package}."):
        if info.name.removeprefix(package).startswith(_NOT_IMPORTED):
            continue
        module = import_module(info.name)
        for name, place in getattr(module, "SYMBOLS", {}).items():
            _add(names, name, _full(place, package, info.name))
    for name, module_name, attribute in MARKED:
        if module_name.startswith(f"{package}."):
            _add(names, name, f"{module_name}:{attribute}")
    return dict(sorted(names.items(), key=lambda row: (row[1].partition(":")[0], row[0])))


def _full(place: str, package: str, module: str) -> str:
    """A place with its whole module: places are said in short inside a module and a package."""
    if ":" not in place:
        return f"{module}:{place}"
    return place if place.startswith("byparts_") else f"{package}.{place}"


def _add(names: dict[str, str], name: str, place: str) -> None:
    if names.setdefault(name, place) != place:
        raise ValueError(f"tf.{name} is said to be {names[name]} and {place}")


def kinds(package: str) -> dict[str, str]:
    """Each type of operation that a module of a package makes a `Kind` of -> the module."""
    types: dict[str, str] = {}
    for info in walk_packages(import_module(package).__path__, f"{package}."):
        source = Path(str(import_module(info.name).__file__)).read_text(encoding="utf-8")
        types |= {name: info.name for name in re.findall(r'\bKind\(\s*"(\w+)"', source)}
    return dict(sorted(types.items()))


def write(package: str) -> None:
    """Write the tables of a package."""
    folder = Path(str(import_module(package).__file__)).parent
    tables = {"names.tsv": collect(package), "kinds.tsv": kinds(package)}
    for file, rows in tables.items():
        if file == "names.tsv" or (folder / file).exists():
            (folder / file).write_text(text(rows), encoding="utf-8")


def text(rows: Mapping[str, str]) -> str:
    """A table as its file has it."""
    return "".join([f"{name}\t{place}\n" for name, place in rows.items()])


if __name__ == "__main__":
    write(sys.argv[1])

"""What each part says of itself: its pyproject.toml, and the sockets that its plugin fills.

Nothing is imported and nothing need be installed: the files of the workspace are read.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # which pytest brings along

PREFIX = "byparts-"


@dataclass(frozen=True)
class Part:
    """One distribution of the workspace.

    Attributes:
        name: that of its folder, e.g. "graph-ir".
        needs: requirements that are parts, by folder name.
        others: requirements that are not.
        extras: of each extra, its requirements.
        sockets: what it provides through the hub, e.g. {"backends"}.
        python: the oldest version it claims, e.g. "3.10".
    """

    name: str
    folder: Path
    version: str
    needs: tuple[Requirement, ...] = ()
    others: tuple[Requirement, ...] = ()
    extras: tuple[tuple[str, tuple[Requirement, ...]], ...] = ()
    sockets: frozenset[str] = frozenset()
    python: str = "3.10"

    @property
    def distribution(self) -> str:
        """As pip says it."""
        return PREFIX + self.name

    @property
    def module(self) -> str:
        """As Python says it."""
        return self.distribution.replace("-", "_")


Parts = Mapping[str, Part]


def read_parts(root: Path) -> dict[str, Part]:
    """Every part of a workspace, by name.

    Raises:
        ValueError: there is none, or one has no `__version__`.
    """
    found = [_read(path.parent) for path in sorted(root.glob("packages/*/pyproject.toml"))]
    if not found:
        raise ValueError(f"no packages/*/pyproject.toml below {root}")
    return {part.name: part for part in found}


def read_distribution(root: Path) -> Part:
    """The distribution `byparts`, which brings parts and has no code of its own.

    Raises:
        ValueError: it has no `__version__`.
    """
    return _read(root / "distribution")


def closure(names: Iterable[str], parts: Parts) -> frozenset[str]:
    """These parts and all that they require, directly or not."""
    found: set[str] = set()
    rest = list(names)
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest.extend(part_name(r) for r in parts[name].needs)
    return frozenset(found)


def requirements(names: Iterable[str], parts: Parts) -> tuple[Requirement, ...]:
    """What these parts require that is no part, with the extras they ask of each other."""
    found = [r for name in sorted(names) for r in parts[name].others]
    for name in sorted(names):
        for need in parts[name].needs:
            extras = dict(parts[part_name(need)].extras)
            found += [r for e in sorted(need.extras) for r in extras[e] if not is_part(r)]
    return tuple(found)


def is_part(requirement: Requirement) -> bool:
    """Whether it names one of us."""
    return canonicalize_name(requirement.name).startswith(PREFIX)


def part_name(requirement: Requirement) -> str:
    """The folder of the part that it names."""
    return canonicalize_name(requirement.name).removeprefix(PREFIX)


def _read(folder: Path) -> Part:
    data = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    project = data["project"]
    needed = _parsed(project.get("dependencies", ()))
    extras = project.get("optional-dependencies", {})
    python = re.search(r">=\s*([\d.]+)", project["requires-python"])
    return Part(
        name=folder.name,
        folder=folder,
        version=_version(folder / data["tool"]["hatch"]["version"]["path"]),
        needs=tuple(r for r in needed if is_part(r)),
        others=tuple(r for r in needed if not is_part(r)),
        extras=tuple((name, _parsed(lines)) for name, lines in sorted(extras.items())),
        sockets=_sockets(folder, project),
        python=python[1] if python else "3.10",
    )


def _parsed(lines: Iterable[str]) -> tuple[Requirement, ...]:
    return tuple(map(Requirement, lines))


def _version(file: Path) -> str:
    found = re.search(r'^__version__ = "([^"]+)"$', file.read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f'{file} has no line __version__ = "..."')
    return found[1]


def _sockets(folder: Path, project: Mapping[str, Any]) -> frozenset[str]:
    """The hooks that its entry points define, read and not run."""
    found = set()
    for target in project.get("entry-points", {}).get("byparts.parts", {}).values():
        file = folder / "src" / Path(*target.partition(":")[0].split(".")).with_suffix(".py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("byparts_"):
                found.add(node.name.removeprefix("byparts_"))
    return frozenset(found)

"""The oldest of everything that the parts claim to work with, computed from their lower bounds.

One environment of third-party packages at these versions serves all combinations, and so do the
oldest releases of the parts themselves: a part from the tree is tried on the oldest graph-ir that
it claims.  Where that is the version of the tree, as before the first release, the tree's is taken.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from combinations.environment import clean_variables
from combinations.facts import PREFIX, Parts, is_part, requirements
from combinations.third_party import Missing


@dataclass(frozen=True)
class Pin:
    """One package at the oldest version that all who require it claim; `held` by constraints."""

    name: str
    claimed: str
    held: str = ""

    @property
    def requirement(self) -> str:
        """For pip."""
        return f"{self.name}=={self.held or self.claimed}"

    def __str__(self) -> str:
        if self.held:
            not_tried = f"{self.claimed} is claimed, not tried"
            return f"{self.name} {self.held} (constraints.txt; {not_tried})"
        return f"{self.name} {self.claimed}"


def pins(parts: Parts, constraints: str) -> list[Pin]:
    """One for each third-party package.

    Raises:
        ValueError: a part claims no oldest version of one.
    """
    extras = (r for part in parts.values() for _, rs in part.extras for r in rs)
    every = [*requirements(parts, parts), *(r for r in extras if not is_part(r))]
    held = dict(re.findall(r"^([\w-]+)==([\w.+]+)", constraints, re.MULTILINE))
    return [Pin(name, v, held.get(name, "")) for name, v in sorted(_lowest(every).items())]


def older_parts(parts: Parts) -> dict[str, str]:
    """Parts whose oldest claimed version is not that of the tree, with that version."""
    needs = [r for part in parts.values() for r in part.needs]
    bounds = {name.removeprefix(PREFIX): v for name, v in _lowest(needs).items()}
    return {n: v for n, v in sorted(bounds.items()) if Version(v) < Version(parts[n].version)}


def download(older: Mapping[str, str], folder: Path) -> None:
    """The wheels of released parts.

    Raises:
        Missing: pip finds no such release.
    """
    for name, version in older.items():
        what = f"{PREFIX}{name}=={version}"
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder)]
        done = subprocess.run([*command, what], capture_output=True, text=True, check=False)
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["no word of why"]
            raise Missing(f"{what} is claimed to be enough, and pip cannot get it: {said[-1]}")


def find_python(parts: Parts, given: str) -> tuple[Path, str]:
    """The interpreter to try, and a remark: the one given, the oldest claimed, or this one."""
    if given:
        return Path(shutil.which(given) or given), f"Python: {given}"
    version = min((part.python for part in parts.values()), key=Version)
    for candidate in _candidates(version):
        if interpreter_version(candidate) == tuple(map(int, version.split("."))):
            return candidate, f"Python {version}"
    here = "{}.{}".format(*sys.version_info[:2])
    return Path(sys.executable), f"Python {version} is claimed and not found here; tried on {here}"


def interpreter_version(python: Path) -> tuple[int, int] | None:
    """(major, minor); `None` if it does not run."""
    command = [str(python), "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        done = subprocess.run(
            command, env=clean_variables(), capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    words = done.stdout.split()
    return None if done.returncode or len(words) != 2 else (int(words[0]), int(words[1]))


def _candidates(version: str) -> Iterable[Path]:
    found = shutil.which(f"python{version}")
    if found:
        yield Path(found)
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))  # whose shims may refuse
    yield from sorted(home.glob(f"versions/{version}.*/bin/python"))


def _lowest(requirements: Iterable[Requirement]) -> dict[str, str]:
    """Package -> the highest of its lower bounds: what all who require it claim together."""
    found: dict[str, str] = {}
    for requirement in requirements:
        name = canonicalize_name(requirement.name)
        bounds = [s.version for s in requirement.specifier if s.operator in (">=", "==", "~=")]
        if not bounds:
            raise ValueError(f"{requirement} claims no oldest version; write {name}>=...")
        found[name] = max([*bounds, found.get(name, "0")], key=Version)
    return found

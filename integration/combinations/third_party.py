"""The third-party packages of one Python, and a path with just those that somebody declared.

An environment made with pip takes ten seconds, or fifty with torch.  What it would hold can be had
in a millisecond: for each package a folder of links into an environment that has them all, and on
the path the folders of those that the parts declare, and of what these declare in turn.  So an
import that nobody declared fails here as it would fail for a user.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


class Missing(Exception):
    """A required package is not there; the message names it."""


class Packages:
    """What is installed in some folders (`site-packages`), as links.

    Args:
        sites: where to look.
        links: a folder to fill.
        python: (major, minor) of the interpreter that will import them.
    """

    def __init__(self, sites: Iterable[Path], links: Path, python: tuple[int, int]) -> None:
        self._links = links
        self._known: dict[str, Distribution] = {
            canonicalize_name(found.name): found
            for found in reversed(list(distributions(path=[str(site) for site in sites])))
        }
        version = "{}.{}".format(*python)
        self._markers = {key: str(value) for key, value in default_environment().items()}
        self._markers |= {"python_version": version, "extra": ""}
        self._markers["python_full_version"] = f"{version}.0"

    def version(self, name: str) -> str | None:
        """Of an installed package."""
        found = self._known.get(canonicalize_name(name))
        return found.version if found else None

    def closure(
        self, required: Iterable[Requirement], lacking: frozenset[str] = frozenset()
    ) -> list[str]:
        """Names of what these requirements bring, directly or not, without `lacking`.

        Raises:
            Missing: one is not installed, or too old.
        """
        found: dict[str, None] = {}
        rest = list(required)
        while rest:
            requirement = rest.pop()
            name = canonicalize_name(requirement.name)
            applies = requirement.marker is None or requirement.marker.evaluate(self._markers)
            if name in lacking or name in found or not applies:
                continue
            found[name] = None
            rest.extend(map(Requirement, self._fitting(requirement).requires or ()))
        return sorted(found)

    def path(self, names: Iterable[str]) -> list[Path]:
        """Folders for `PYTHONPATH`, one for each package."""
        return [self._folder(self._known[name]) for name in names]

    def _fitting(self, requirement: Requirement) -> Distribution:
        found = self._known.get(canonicalize_name(requirement.name))
        if found is None:
            raise Missing(f"{requirement} is not installed here")
        if not requirement.specifier.contains(found.version, prereleases=True):
            raise Missing(f"{requirement} is wanted, and {found.version} is installed here")
        return found

    def _folder(self, found: Distribution) -> Path:
        folder = self._links / canonicalize_name(found.name)
        if not folder.exists():
            folder.mkdir(parents=True)
            for name, target in _entries(found).items():
                (folder / name).symlink_to(target)
        return folder


def _entries(found: Distribution) -> Mapping[str, Path]:
    """What the package put right into `site-packages`."""
    if found.files is None:
        raise Missing(f"{found.name} has no list of its files; install it with pip")
    tops = {file.parts[0] for file in found.files} - {"..", "__pycache__"}
    return {top: Path(str(found.locate_file(top))) for top in sorted(tops)}

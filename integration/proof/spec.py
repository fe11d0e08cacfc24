"""What a combination is told, and the shape of its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Optional

# A check: its name is what it claims, it raises if that is not so, and it may add a remark.
Check = Callable[[], Optional[str]]


@dataclass(frozen=True)
class Spec:
    """What should be here.

    Attributes:
        parts: the parts of the combination.
        every: all parts of the workspace.
        packages: the third-party packages that should be here; `None`: whatever pip took.
        lacks: those of them that were left out although they are required.
        programs: the folder of the recorded programs.
    """

    parts: tuple[str, ...]
    every: tuple[str, ...]
    packages: Optional[tuple[str, ...]]
    lacks: tuple[str, ...]
    programs: str

    def has(self, *parts: str) -> bool:
        """Whether all of these are in the combination."""
        return set(parts) <= set(self.parts)

    @property
    def absent(self) -> tuple[str, ...]:
        """Parts of the workspace that are not."""
        return tuple(part for part in self.every if part not in self.parts)


@dataclass(frozen=True)
class Answer:
    """What came of one check; `said` is a remark, or the traceback of what is wrong."""

    group: str
    claim: str
    right: bool
    said: str = ""


def about(what: str, *checks: Check) -> Iterator[Check]:
    """The checks, with what they are about in their names."""
    for check in checks:
        check.__name__ = f"{what}: {check.__name__}"
        yield check


def module_of(part: str) -> str:
    """The module of a part."""
    return "byparts_" + part.replace("-", "_")


def write(file: Path, what: Spec | Sequence[Answer]) -> None:
    """As JSON."""
    data = asdict(what) if isinstance(what, Spec) else [asdict(answer) for answer in what]
    file.write_text(json.dumps(data), encoding="utf-8")


def read_spec(file: Path) -> Spec:
    """What `write` wrote."""
    data = json.loads(file.read_text(encoding="utf-8"))
    return Spec(
        parts=tuple(data["parts"]),
        every=tuple(data["every"]),
        packages=None if data["packages"] is None else tuple(data["packages"]),
        lacks=tuple(data["lacks"]),
        programs=data["programs"],
    )


def read_answers(file: Path) -> list[Answer]:
    """What `write` wrote."""
    return [Answer(**item) for item in json.loads(file.read_text(encoding="utf-8"))]

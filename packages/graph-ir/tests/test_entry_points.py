"""Entry points read from the files of distributions."""

from __future__ import annotations

import importlib.metadata
import sys
import zipfile
from pathlib import Path

import pytest

from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.entry_points import EntryPoint, entry_points


def distribution(
    folder: Path, info: str, points: str, metadata: str = "Name: made\nVersion: 1.0\n\nName: no\n"
) -> None:
    """Write the files of an installed distribution."""
    (folder / info).mkdir(parents=True)
    (folder / info / "entry_points.txt").write_text(points)
    name = "PKG-INFO" if info.endswith("egg-info") else "METADATA"
    (folder / info / name).write_text(metadata)


@pytest.mark.parametrize("group", ["byparts.parts", "console_scripts", "pytest11"])
def test_the_same_as_python_gives(group: str) -> None:
    """Of all that is installed here."""
    theirs = [
        (e.name, e.value, e.dist.name, e.dist.version)
        for e in importlib.metadata.entry_points(group=group)
        if e.dist
    ]

    assert theirs
    assert sorted(theirs) == sorted(map(tuple, entry_points(group)))


def test_the_rules_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections, comments, spaces, extras; the first distribution of a name counts."""
    text = (
        "# none\n[other]\nx = no\n\n[made.group]\n b=pack.mod : a.b [extra]\n; c = no\na = pack\n"
    )
    distribution(tmp_path / "one", "made_dist-1.0.dist-info", text)
    distribution(tmp_path / "two", "Made.Dist-2.0.dist-info", "[made.group]\nz = late\n")
    distribution(tmp_path / "two", "old-3.egg-info", "[made.group]\nz = old\n", "name:  Old \n")
    monkeypatch.setattr(sys, "path", [str(tmp_path / p) for p in ("one", "nowhere", "two")])

    points = entry_points("made.group")

    assert points == [
        EntryPoint("a", "pack", "made", "1.0"),
        EntryPoint("b", "pack.mod : a.b [extra]", "made", "1.0"),
        EntryPoint("z", "old", "Old", "?"),
    ]
    assert [p.split() for p in points] == [("pack", ""), ("pack.mod", "a.b"), ("old", "")]


def test_an_archive_on_the_path_is_left_to_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A zip archive has distributions too."""
    archive = tmp_path / "made.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("made-1.0.dist-info/entry_points.txt", "[made.group]\na = pack\n")
        file.writestr("made-1.0.dist-info/METADATA", "Name: made\nVersion: 1.0\n")
    monkeypatch.setattr(sys, "path", [str(archive)])

    assert entry_points("made.group") == [EntryPoint("a", "pack", "made", "1.0")]


def test_a_value_that_names_nothing_is_refused() -> None:
    """With the entry point that has it."""
    with pytest.raises(PartError, match="entry point a = 'x y' is no 'module:object'"):
        EntryPoint("a", "x y", "made", "1.0").load()

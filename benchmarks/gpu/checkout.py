"""The parts of this checkout, for a Python that has none of them installed.

What pip would write beside a package is written to a temporary folder: the names of its entry
points.  So the hub finds all parts, and nothing has to be built, downloaded or installed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def python_path(folder: Path) -> str:
    """What PYTHONPATH must be; `folder` takes what says which parts there are."""
    sources = sorted(ROOT.glob("packages/*/src"))
    for source in sources:
        _describe(source.parent / "pyproject.toml", folder)
    tests = (ROOT / "benchmarks", ROOT / "packages/kernels-torch/tests")
    return os.pathsep.join(map(str, (folder, *sources, *tests)))


def _describe(project: Path, folder: Path) -> None:
    text = project.read_text(encoding="utf-8")
    found = re.search(r'^name = "(.+)"$', text, re.MULTILINE)
    assert found, f"{project} has no name"
    name = found[1]
    there = folder / f"{name.replace('-', '_')}-0.dist-info"
    there.mkdir()
    (there / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0\n")
    (there / "entry_points.txt").write_text("\n".join(_entry_points(text)) + "\n")


def _entry_points(text: str) -> Iterator[str]:
    """The tables of entry points, as the file beside a package has them: without quotes."""
    copying = False
    for line in text.splitlines():
        if line.startswith("["):
            table = re.fullmatch(r"\[project\.(entry-points\.\"(.+)\"|scripts)\]", line.strip())
            copying = table is not None and table[2] is not None
            if copying and table is not None:
                yield f"[{table[2]}]"
        elif copying and "=" in line:
            yield line.replace('"', "")

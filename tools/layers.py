"""Draws the parts in their layers and which part requires which: docs/pictures/parts.svg.

The layers are those of `.importlinter`, the requirements those of each `pyproject.toml`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html import escape
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
BOX, GAP, ROW, HEIGHT, LEFT = 172, 12, 64, 48, 16

Edges = dict[str, set[str]]


def layers() -> list[list[str]]:
    """The names of the parts, a list for each layer, the top one first."""
    text = (ROOT / ".importlinter").read_text(encoding="utf-8")
    block = re.search(r"^layers =\n((?:    .*\n)+)", text, re.MULTILINE)
    assert block is not None, ".importlinter has no contract of layers"
    return [
        [name.strip().removeprefix("byparts_").replace("_", "-") for name in line.split("|")]
        for line in block[1].splitlines()
    ]


def requirements(parts: list[str]) -> tuple[Edges, set[str]]:
    """Part -> the parts that it requires; and the parts that the hub finds by an entry point."""
    edges: Edges = {}
    with_entry_point = set()
    for part in parts:
        path = ROOT / "packages" / part / "pyproject.toml"
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
        names = [re.match(r"byparts-([\w-]+)", line) for line in project.get("dependencies", [])]
        edges[part] = {match[1] for match in names if match}
        if "byparts.parts" in project.get("entry-points", {}):
            with_entry_point.add(part)
    return edges, with_entry_point


def layers_svg() -> str:
    """The picture: one row a layer, a box for each part with the parts that it requires."""
    rows = layers()
    edges, with_entry_point = requirements([part for row in rows for part in row])
    width = max(len(row) for row in rows) * (BOX + GAP) - GAP + 2 * LEFT
    height = LEFT + len(rows) * ROW + 16
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="sans-serif" font-size="13" '
        f'text-anchor="middle">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for i, row in enumerate(rows):
        y = LEFT + i * ROW
        for j, part in enumerate(row):
            x = width // 2 + int((j - (len(row) - 1) / 2) * (BOX + GAP))
            needs = ", ".join(sorted(edges[part], key=_position(rows))) or "no other part"
            lines.append(
                f'<rect x="{x - BOX // 2}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="6" '
                f'fill="#eef2f8" stroke="#44546a"/>'
                f'<text x="{x}" y="{y + 20}" font-weight="bold">{escape(part)}</text>'
                f'<text x="{x}" y="{y + 37}" font-size="9.5" fill="#555">{escape(needs)}</text>'
            )
            if part in with_entry_point:
                cx = x + BOX // 2 - 9
                lines.append(f'<circle cx="{cx}" cy="{y + 9}" r="3.5" fill="#2f6fb3"/>')
    note = "small: the parts that it requires; a dot: the hub finds the part by its entry point"
    lines.append(f'<text x="{width // 2}" y="{height - 10}" fill="#555">{note}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _position(rows: list[list[str]]) -> Callable[[str], int]:
    """Sort key: the parts of the lowest layer first."""
    order = [part for row in reversed(rows) for part in row]
    return order.index

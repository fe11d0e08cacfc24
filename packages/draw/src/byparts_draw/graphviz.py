"""Places for all that a picture shows by Graphviz's program `dot`, where it is installed.

`dot` gets boxes of the size that we draw, frames as clusters, and gives places and wires back as
JSON.  A graph inside a node is laid out first; its node is then one box.
"""

from __future__ import annotations

import json
import shutil
import subprocess

from byparts_draw.boxes import Box
from byparts_draw.layout import Curve, Placed, put_bodies, size, text_width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from byparts_draw.boxes import Frame, Sheet

MOST = 400  # wires; `dot` takes minutes for some thousand
_INCH = 72.0
_LOOK = (
    "digraph { graph [nodesep=0.36 ranksep=0.4 fontsize=11 labeljust=l margin=8 newrank=true]"
    ' node [shape=box fixedsize=true label=""] edge [arrowhead=none tailport=s headport=n]'
)


def is_there() -> bool:
    """Whether `dot` is on the path."""
    return shutil.which("dot") is not None


def laid_out_by_dot(sheet: Sheet) -> Placed:
    """Places for a whole graph.

    Raises:
        OSError, subprocess.SubprocessError: there is no `dot`, or it fails.
    """
    numbers = {member: i for i, member in enumerate(_members(sheet.root))}
    sizes = {m: size(m, laid_out_by_dot) for m in numbers if isinstance(m, Box)}
    lines = [_LOOK, *_text(sheet.root, numbers, sizes)]
    lines += [
        f"n{numbers[maker]} -> n{numbers[reader]} [id=w{i}]"
        for i, (maker, _, reader) in enumerate(sheet.wires)
    ]
    done = subprocess.run(
        ["dot", "-Tjson0"],
        input="\n".join([*lines, "}"]),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return _placed(sheet, json.loads(done.stdout), sizes)


def _members(frame: Frame) -> Iterator[Box | Frame]:
    for member in frame.members:
        yield member
        if not isinstance(member, Box):
            yield from _members(member)


def _text(
    frame: Frame, numbers: Mapping[Box | Frame, int], sizes: Mapping[Box, Any]
) -> Iterator[str]:
    for member in frame.members:
        i = numbers[member]
        if isinstance(member, Box):
            width, height, _ = sizes[member]
            yield f"n{i} [width={width / _INCH:.4f} height={height / _INCH:.4f}]"
        else:
            words = "M" * (1 + int(text_width(member.title, "title") / text_width("M", "title")))
            yield f'subgraph cluster{i} {{ label="{words}"'
            yield from _text(member, numbers, sizes)
            yield "}"


def _placed(sheet: Sheet, made: Mapping[str, Any], sizes: Mapping[Box, Any]) -> Placed:
    _, _, width, height = _numbers(made["bb"])
    placed = Placed(sheet.root, width, height)
    by_name = {item["name"]: item for item in made.get("objects", ())}
    for i, member in enumerate(_members(sheet.root)):
        if isinstance(member, Box):
            wide, high, bodies = sizes[member]
            x, y = _numbers(by_name[f"n{i}"]["pos"])
            left, top = x - wide / 2, height - y - high / 2
            placed.places[member] = (left, top, wide, high)
            put_bodies(placed, member, bodies, left, top)
        else:
            left, low, right, high = _numbers(by_name[f"cluster{i}"]["bb"])
            placed.places[member] = (left, height - high, right - left, high - low)
    for edge in sorted(made.get("edges", ()), key=lambda e: int(e["id"][1:])):
        points = [_numbers(p) for p in edge["pos"].split()]
        placed.curves.append(Curve([(x, height - y) for x, y in points], True, bezier=True))
    return placed


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(","))

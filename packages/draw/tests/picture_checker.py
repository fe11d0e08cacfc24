"""Reads a picture of a graph as a viewer would, from its SVG alone, and says what is wrong with it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field

SVG = "{http://www.w3.org/2000/svg}"
SLACK = 0.3  # places in the file have one digit after the point
Point = tuple[float, float]


@dataclass
class Rectangle:
    left: float
    top: float
    right: float
    bottom: float
    tip: str = ""
    texts: list[str] = field(default_factory=list)
    kind: str = ""
    inside: list[Rectangle] = field(default_factory=list)  # all that stand in this frame

    def has(self, point: Point, slack: float = SLACK) -> bool:
        x, y = point
        return (
            self.left + slack < x < self.right - slack
            and self.top + slack < y < self.bottom - slack
        )

    def overlaps(self, other: Rectangle) -> bool:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across > SLACK and down > SLACK

    def contains(self, other: Rectangle) -> bool:
        return (
            self.left - SLACK <= other.left
            and self.top - SLACK <= other.top
            and other.right <= self.right + SLACK
            and other.bottom <= self.bottom + SLACK
        )


@dataclass
class Picture:
    """Of one graph; the graphs inside its nodes are pictures by themselves."""

    boxes: list[Rectangle]
    frames: list[Rectangle]
    wires: list[list[Point]]
    bodies: list[Picture]


def read(svg: str) -> Picture:
    """The picture of the outermost graph."""
    (graph,) = ElementTree.fromstring(svg).findall(f"{SVG}g[@class='graph']")
    return _picture(graph)


def check(picture: Picture) -> None:
    """Boxes are apart, frames hold their boxes and no others, and wires go around boxes."""
    boxes, frames = picture.boxes, picture.frames
    for i, box in enumerate(boxes):
        for other in boxes[:i]:
            assert not box.overlaps(other), f"{box.tip!r} overlaps {other.tip!r}"
    for frame in frames:
        for box in (*boxes, *(f for f in frames if f is not frame and frame not in f.inside)):
            inside = any(box is b for b in frame.inside)
            assert frame.contains(box) if inside else not frame.overlaps(box), (frame.tip, box.tip)
    for wire in picture.wires:
        for point in wire:
            for box in boxes:
                assert not box.has(point), f"a wire passes {box.tip!r} at {point}"
    for body in picture.bodies:
        check(body)


def _picture(graph: ElementTree.Element) -> Picture:
    boxes, frames = [], []
    for group in graph.findall(f"{SVG}g"):
        found = list(_rectangles(group))
        boxes += [r for r in found if r.kind != "frame"]
        frames += [r for r in found if r.kind == "frame"]
    (lines,) = graph.findall(f"{SVG}g[@stroke]")
    wires = [_points(path.attrib["d"]) for path in lines]
    bodies = [_picture(g) for g in graph.findall(f"{SVG}g[@class='graph']")]
    return Picture(boxes, frames, wires, bodies)


def _rectangles(group: ElementTree.Element) -> Iterator[Rectangle]:
    rect = group.find(f"{SVG}rect")
    if rect is None or group.get("class") in (None, "graph"):
        return
    x, y, width, height = (float(rect.attrib[k]) for k in ("x", "y", "width", "height"))
    texts = [str(t.text) for t in group.findall(f"{SVG}text")]
    tip = group.findtext(f"{SVG}title") or texts[0]
    made = Rectangle(x, y, x + width, y + height, tip, texts, str(group.get("class")))
    for inner in group.findall(f"{SVG}g"):
        for found in _rectangles(inner):
            made.inside.append(found)
            yield found
    yield made


def _points(path: str) -> list[Point]:
    """Places along a path, close together."""
    points: list[Point] = []
    for letter, numbers in re.findall(r"([MVC])([^MVC]*)", path):
        given = [float(n) for n in numbers.split()]
        if letter == "M":
            points.append((given[0], given[1]))
        elif letter == "V":
            points += _between(points[-1], (points[-1][0], given[0]))
        else:
            for i in range(0, len(given), 6):
                a, b, c = ((given[i + j], given[i + j + 1]) for j in (0, 2, 4))
                points += _bezier(points[-1], a, b, c)
    return points


def _between(start: Point, end: Point) -> list[Point]:
    return _bezier(start, start, end, end)


def _bezier(p: Point, a: Point, b: Point, q: Point, steps: int = 24) -> list[Point]:
    made = []
    for i in range(1, steps + 1):
        t = i / steps
        w = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        x, y = (
            sum(k * c for k, c in zip(w, cs, strict=True)) for cs in zip(p, a, b, q, strict=True)
        )
        made.append((x, y))
    return made

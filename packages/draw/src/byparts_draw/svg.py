"""A graph as SVG: `graph.svg()`.  Same bytes every run.

Boxes with a tooltip each (its line of the graph's text, and where it was written), frames, wires
with arrows, and a line below that says what the colours are.  Groups in the file are nested as
frames and graphs are.
"""

from __future__ import annotations

from html import escape
from subprocess import SubprocessError

from byparts_draw import graphviz
from byparts_draw.boxes import LINE, PAD, Box, Frame, sheet
from byparts_draw.layout import BORDER, laid_out, text_width
from byparts_graph_ir.errors import GraphError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from byparts_draw.boxes import Sheet
    from byparts_draw.layout import Curve, Placed
    from byparts_graph_ir.model.graph import Graph

_FILLS = {
    "input": "#efe6c8",
    "constant": "#e9e9e9",
    "node": "#dce8f4",
    "value": "#dce8f4",
    "output": "#f5d9d0",
}
_MARGIN = 8.0


def svg(graph: Graph, layout: str = "auto") -> str:
    """The picture, as SVG text.

    Args:
        graph: what to draw.
        layout: "rows", ours; "dot", that of Graphviz; "auto", that of Graphviz if its program `dot`
            is installed, and the graph not too large for it, and without scopes: `dot` leads wires
            through frames that they do not belong to, and ours does not.

    Raises:
        GraphError: another layout, or `dot` is not there or fails.
    """
    placed = _placed(sheet(graph), layout)
    legend, legend_width = _legend(_MARGIN + placed.height + 12)
    width = 2 * _MARGIN + max(placed.width, legend_width)
    height = 2 * _MARGIN + placed.height + 30
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="sans-serif" font-size="11">',
        '<defs><marker id="arrow" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z" fill="#667"/></marker></defs>',
        '<rect width="100%" height="100%" fill="#fff"/>',
        *_graph(placed, _MARGIN, _MARGIN),
        *legend,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _placed(drawn: Sheet, layout: str) -> Placed:
    if layout not in ("auto", "dot", "rows"):
        raise GraphError(f"svg: layout {layout!r:.40} is none of 'auto', 'dot', 'rows'")
    if layout == "rows" or (layout == "auto" and not _suits_dot(drawn)):
        return laid_out(drawn)
    try:
        return graphviz.laid_out_by_dot(drawn)
    except (OSError, SubprocessError, ValueError) as error:
        if layout == "dot":
            why = getattr(error, "stderr", "") or error
            raise GraphError(f"svg: Graphviz's program dot gives no layout: {why}") from error
        return laid_out(drawn)


def _suits_dot(drawn: Sheet) -> bool:
    framed = any(isinstance(member, Frame) for member in drawn.root.members)
    return not framed and len(drawn.wires) <= graphviz.MOST and graphviz.is_there()


def _graph(placed: Placed, x: float, y: float) -> Iterator[str]:
    yield f'<g class="graph" transform="translate({_n(x)} {_n(y)})">'
    yield from _members(placed, placed.root)
    yield '<g fill="none" stroke="#667">'
    for curve in placed.curves:
        head = ' marker-end="url(#arrow)"' if curve.arrow else ""
        yield f'<path d="{_path(curve)}"{head}/>'
    yield "</g>"
    for body, left, top in placed.bodies:
        yield from _graph(body, left, top)
    yield "</g>"


def _members(placed: Placed, frame: Frame) -> Iterator[str]:
    for member in frame.members:
        left, top, width, height = placed.places[member]
        place = f'x="{_n(left)}" y="{_n(top)}" width="{_n(width)}" height="{_n(height)}"'
        if isinstance(member, Box):
            yield from _box(member, place, left + width / 2, top)
        else:
            yield f'<g class="frame"><rect {place} rx="8" fill="#f7f7fa" stroke="#aab"/>'
            title = f'<text x="{_n(left + BORDER)}" y="{_n(top + LINE + 1)}" fill="#557"'
            yield f'{title} font-style="italic">{_clean(member.title)}</text>'
            yield from _members(placed, member)
            yield "</g>"


def _box(box: Box, place: str, middle: float, top: float) -> Iterator[str]:
    kind = "output" if box.output else box.kind
    radius = {"input": 10, "value": 10, "constant": 0}.get(box.kind, 4)
    edge = "#b5533c" if box.output else "#889"
    dashes = ' stroke-dasharray="3 3"' if box.again else ""
    yield f'<g class="{"again" if box.again else box.kind}"><title>{_clean(box.tip)}</title>'
    yield f'<rect {place} rx="{radius}" fill="{_FILLS[kind]}" stroke="{edge}"{dashes}/>'
    for i, (words, how) in enumerate(box.lines):
        look = {"name": ' font-size="12" font-weight="600"', "mark": ' fill="#933"'}
        style = look.get(how, ' fill="#445"')
        at = f'x="{_n(middle)}" y="{_n(top + PAD + LINE * (i + 0.78))}"'
        yield f'<text {at} text-anchor="middle"{style}>{_clean(words)}</text>'
    yield "</g>"


def _path(curve: Curve) -> str:
    """Vertical pieces, and between them curves that begin and end vertically."""
    (x, y), *rest = curve.points
    if curve.bezier:
        return f"M{_n(x)} {_n(y)}C{' '.join(f'{_n(a)} {_n(b)}' for a, b in rest)}"
    parts = [f"M{_n(x)} {_n(y)}"]
    for i, (x2, y2) in enumerate(rest):
        if i % 2 == 0 or x2 == x:
            parts.append(f"V{_n(y2)}")
        else:
            half = _n((y + y2) / 2)
            parts.append(f"C{_n(x)} {half} {_n(x2)} {half} {_n(x2)} {_n(y2)}")
        x, y = x2, y2
    return "".join(parts)


def _legend(top: float) -> tuple[list[str], float]:
    words = {
        "input": "input",
        "constant": "constant",
        "node": "op",
        "output": "gives an output",
        "again": "drawn above too",
    }
    x, made = _MARGIN + BORDER, ['<g class="legend">']
    for kind, text in words.items():
        radius, dashes = {"input": 5, "constant": 0}.get(kind, 3), ""
        if kind == "again":
            radius, dashes = 5, ' stroke-dasharray="3 3"'
        edge = "#b5533c" if kind == "output" else "#889"
        made.append(
            f'<rect x="{_n(x)}" y="{_n(top)}" width="18" height="11" rx="{radius}" '
            f'fill="{_FILLS.get(kind, "#fff")}" stroke="{edge}"{dashes}/>'
            f'<text x="{_n(x + 24)}" y="{_n(top + 10)}" fill="#445">{text}</text>'
        )
        x += 24 + text_width(text, "detail") + 20
    return [*made, "</g>"], x


def _clean(words: str) -> str:
    """Escaped, and without what XML cannot say at all, e.g. control characters."""
    return escape("".join(c if c.isprintable() or c == "\n" else "?" for c in words))


def _n(value: float) -> str:
    """The number with one digit after the point, which is enough."""
    return f"{value:.1f}".removesuffix(".0")

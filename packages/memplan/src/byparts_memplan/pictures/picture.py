"""Pieces of an SVG file: no script, no style sheet, no font but the reader's own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from colorsys import hls_to_rgb
from html import escape
from unicodedata import east_asian_width

LETTER = 6.6  # pixels: an average letter of 12 px sans-serif
_WIDE = 0.61  # of a font's size: a letter of a wide one


def document(width: int, height: int, body: Iterable[str]) -> str:
    """An SVG file on white."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{chr(10).join(body)}\n</svg>\n'
    )


def text(x: float, y: float, words: str, **attributes: object) -> str:
    """Words at a point; `text_anchor="end"` is the attribute `text-anchor`."""
    extra = "".join(f' {k.replace("_", "-")}="{v}"' for k, v in attributes.items())
    return f'<text x="{pixels(x)}" y="{pixels(y)}"{extra}>{clean(words)}</text>'


def clean(words: str) -> str:
    """Escape text, and leave out what XML cannot say at all, such as control characters."""
    return escape("".join(c if c.isprintable() or c == "\n" else "?" for c in words))


def cut(words: str, most: int) -> str:
    """Text cut to at most `most` letters."""
    return words if len(words) <= most else f"{words[: max(most - 1, 0)]}…"


def fitted(words: str, room: float, size: float = 12) -> str:
    """The beginning of a text that fits into `room` pixels, whatever font the reader has."""
    width = 0.0
    for k, c in enumerate(words):
        width += size * (1.0 if east_asian_width(c) in "WF" else _WIDE)
        if width > room:
            return cut(words, k)
    return words


def ticks(most: int, count: int) -> list[int]:
    """About `count` numbers from 0 in round steps: 1, 2 or 5 times a power of ten.

    >>> ticks(169, 8)
    [0, 20, 40, 60, 80, 100, 120, 140, 160]
    """
    power = 10 ** max(0, len(str(most // count)) - 1)
    step = power * next((k for k in (1, 2, 5) if 5 * power * k * count >= 4 * most), 10)
    return list(range(0, most + 1, step))


def byte_ticks(most: int) -> list[int]:
    """About four byte counts from 0, round in the unit in which they are shown."""
    unit = 1024 ** (min(max(0, most.bit_length() - 1) // 10, 4))
    if most < 4 * unit and unit > 1:
        return [k * unit // 10 for k in ticks(10 * most // unit, 4)]
    return [k * unit for k in ticks(most // unit, 4)]


def pixels(value: float) -> str:
    """A coordinate with two digits behind the point, which are enough."""
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"


def colour(i: int) -> str:
    """The `i`-th colour: far from its neighbours in hue (golden angle), and light for dark text."""
    red, green, blue = hls_to_rgb(i * 0.381966 % 1, 0.74 + 0.06 * (i % 2), 0.5 + 0.1 * (i % 3))
    return f"#{int(255 * red):02x}{int(255 * green):02x}{int(255 * blue):02x}"


def legend(
    rows: Sequence[tuple[str, str]], x: float, y: float, width: float
) -> tuple[list[str], float]:
    """A legend of (colour, words) in columns, and its height."""
    if not rows:
        return [], 0
    rows = [(fill, fitted(words, width - 18)) for fill, words in rows]
    longest = max(len(words) for _, words in rows)
    columns = max(1, int(width // (longest * LETTER + 34)))
    body = []
    for i, (fill, words) in enumerate(rows):
        left, top = x + i % columns * width / columns, y + i // columns * 18
        body.append(
            f'<rect x="{pixels(left)}" y="{pixels(top)}" width="12" height="12" fill="{fill}"/>'
        )
        body.append(text(left + 18, top + 10, words))
    return body, 18 * -(-len(rows) // columns)

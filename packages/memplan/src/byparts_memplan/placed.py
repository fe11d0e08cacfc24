"""Placements: the buffers of a problem and their offsets, as `place` returns them."""

from __future__ import annotations

from collections.abc import Sequence

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import Buffer


class Placement(Frozen):
    """The offset of every buffer, with what is proved of it.

    Attributes:
        buffers: the problem.
        offsets: one for each buffer, in bytes from the start of the arena of its space.
        arena_bytes: end of the highest buffer; of several spaces, the sum of their ends.
        lower_bound_bytes: no arena can be smaller: what is alive together (`lower_bound`), or more
            where a search has proved more.
        how: what found it, for people.
    """

    buffers: tuple[Buffer, ...]
    offsets: tuple[int, ...]
    arena_bytes: int
    lower_bound_bytes: int
    how: str

    @property
    def optimal(self) -> bool:
        """Whether no smaller arena is possible, which is then proved."""
        return self.arena_bytes == self.lower_bound_bytes

    @property
    def arenas(self) -> dict[str, int]:
        """Bytes of the arena of each space, in order of first use."""
        ends: dict[str, int] = {}
        for b, offset in zip(self.buffers, self.offsets, strict=True):
            ends[b.space] = max(ends.get(b.space, 0), offset + b.size_bytes)
        return ends

    def draw(self, width: int = 72, height: int = 16) -> str:
        """The arena as text, steps across and bytes up."""
        from byparts_memplan.pictures.draw import draw  # only for who draws

        return draw(self, width=width, height=height)

    def svg(self, labels: Sequence[str] = ()) -> str:
        """The arena as a picture; `labels` has one tooltip for each buffer."""
        from byparts_memplan.pictures.svg import svg  # likewise

        return svg(self, labels)

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        return self.svg()

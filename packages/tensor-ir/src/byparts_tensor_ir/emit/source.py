"""Emitted C, and files of it; light, so that a process that finds its code compiled starts fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from byparts_tensor_ir.emit.vectors import HEADER, vector_types


@dataclass(frozen=True)
class Source:
    """Emitted code.

    Attributes:
        name: of the C function.
        body: C of the function alone.
        vectors: the vector types (dtype, lanes) that it uses.
        workspace_bytes: that its argument after the buffers must point to.
        parallel: whether it has OpenMP loops.
    """

    name: str
    body: str
    vectors: frozenset[tuple[str, int]]
    workspace_bytes: int
    parallel: bool = False

    @property
    def text(self) -> str:
        """A whole file."""
        return file_of([self])


def file_of(sources: Sequence[Source], header: str = HEADER) -> str:
    """One C file of several functions."""
    used = {v for s in sources for v in s.vectors}
    return "\n".join([header + vector_types(used), *[s.body for s in sources]])

"""Memory in which each value of a program ends or begins at a page that nobody may touch.

    guards = Guards()
    build(graph, backends=..., **guards.options())

A step that reads or writes outside of its arrays is seldom seen: what lies there is another value,
or is not used.  Here a touch of the page before or behind a value ends the process, so such a
program is run in a child.  Every second value begins at a page, the others end at one, but for the
bytes that fill up their last 64; so do all workspaces.  Values of bodies have no pages of their
own.  A value takes two pages and its own.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import Graph, HostSpace, Node, Value
from byparts_graph_ir.backend.space import MAPPED_BYTES
from byparts_graph_ir.model.frozen import replace
from byparts_runtime import Arena, separate

PAGE = mmap.PAGESIZE
_PROT_NONE = 0


class Guards:
    """A planner that leaves pages between values, and memory in which nobody may touch them.

    Attributes:
        pages: bytes of an arena -> offsets of the pages in it; no two plans take as many.
    """

    def __init__(self) -> None:
        self.pages: dict[int, list[int]] = {}
        self._number = count(1)

    def options(self) -> dict[str, Any]:
        """The options of `build`, for one program."""
        return {"planner": self.plan, "arena": Arena(GuardedSpace(self.pages)), "order": None}

    def plan(
        self,
        graph: Graph,
        *,
        external: frozenset[int] = frozenset(),
        alignment: int = 64,
        donate: Optional[Mapping[int, int]] = None,
        kernels: Optional[Callable[[Node], Any]] = None,
        space: Callable[[Value], str] = lambda value: "",
    ) -> Any:
        """A plan in one space, in which pages that nobody may touch are around each value."""
        plain = separate(graph, external=external, alignment=alignment, kernels=kernels)
        top, pages, places = PAGE, [0], []
        for value, place in zip(graph.values, plain.locations, strict=True):
            if place.root is not None:
                places.append(place)
                continue
            size = _padded(value.type.size_bytes, alignment)
            offset, top = _between(top, size, at_end=len(pages) % 2 == 0)
            places.append(replace(place, offset=offset))
            pages.append(top - PAGE)
        most = plain.arena_bytes - min(filter(None, plain.workspaces), default=plain.arena_bytes)
        offset, top = _between(top, most, at_end=True)
        pages.append(top - PAGE)
        starts = [offset if start else 0 for start in plain.workspaces]
        top = max(top, MAPPED_BYTES) + next(self._number) * PAGE  # a mapping begins at a page
        self.pages[top] = pages
        return replace(
            plain,
            locations=tuple(places),
            arena_bytes=top,
            workspaces=tuple(starts),
            space_bytes=(("", top),),
        )


def _between(top: int, size: int, *, at_end: bool) -> tuple[int, int]:
    """The offset of so many bytes behind `top`, and the end of the page behind them."""
    end = top + _padded(size, PAGE)
    return (end - size if at_end else top), end + PAGE


def _padded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


class GuardedSpace(HostSpace):
    """Memory of the host, with pages that nobody may touch in what is as large as a plan.

    Args:
        pages: size of a block in bytes -> the offsets of those pages.
    """

    def __init__(self, pages: Mapping[int, list[int]]) -> None:
        self.pages = pages

    def allocate(self, size_bytes: int) -> memoryview:
        """A writable view.

        Raises:
            MemoryError: there is none left, or no more pages can be told apart.
        """
        block = super().allocate(size_bytes)
        for offset in self.pages.get(size_bytes, ()):
            at = int(np.frombuffer(block, np.uint8).ctypes.data) + offset
            if _libc().mprotect(ctypes.c_void_p(at), ctypes.c_size_t(PAGE), _PROT_NONE):
                raise MemoryError(f"page {offset // PAGE} of {size_bytes:,} bytes stays open")
        return block


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)

"""The loops of a GPU function that are bound to blocks and threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from byparts_graph_ir import GraphError
from byparts_tensor_ir.statement import (
    THREADS,
    WARP,
    Barrier,
    Collective,
    For,
    Func,
    Statement,
    statement_lines,
    walk,
)

AXES = "xyz"
MOST_THREADS = 1024  # of a block
MOST_ALONG_Z = 64


class NestError(GraphError):
    """A function that no GPU runs as it stands; the message says why, and shows the statement."""


@dataclass(frozen=True)
class Nest:
    """A GPU function taken apart.

    Attributes:
        blocks: the loops of blocks, by their axes "x", "y", "z", those there are.
        threads: the loops of threads, likewise.
        body: what one thread does.
        grid: how many blocks there are along x, y, z.
        block: how many threads a block has along x, y, z.
    """

    blocks: dict[str, For]
    threads: dict[str, For]
    body: tuple[Statement, ...]

    @property
    def grid(self) -> tuple[int, int, int]:
        return _extents(self.blocks)

    @property
    def block(self) -> tuple[int, int, int]:
        return _extents(self.threads)

    @property
    def size(self) -> int:
        """The number of threads of a block."""
        return prod(self.block)


def _extents(loops: dict[str, For]) -> tuple[int, int, int]:
    x, y, z = [int(loops[a].extent.attr) if a in loops else 1 for a in AXES]
    return x, y, z


def nest_of(func: Func) -> Nest:
    """The nest of a GPU function.

    Raises:
        NestError: it has sizes that are no numbers, too many threads in a block, loops that are
            bound further inside, or collectives of a warp that is not whole.
    """
    if func.sizes:
        raise NestError(f"{func.name}: {func.sizes[0]} is not a number, and no GPU code has sizes")
    nest = Nest({}, {}, func.body)
    while len(nest.body) == 1 and isinstance(s := nest.body[0], For) and s.kind in THREADS:
        loops, axis = (nest.blocks if s.kind[0] == "b" else nest.threads), s.kind[-1]
        if axis in loops or (loops is nest.blocks and nest.threads) or s.extent.op != "const":
            raise NestError(
                f"{func.name}: loop {s.name} is bound to {s.kind} a second time, inside of loops "
                f"of threads, or for {s.extent} rounds, which is no number"
            )
        loops[axis] = s
        nest = Nest(nest.blocks, nest.threads, s.body)
    if nest.size > MOST_THREADS or nest.block[2] > MOST_ALONG_Z:
        raise NestError(
            f"{func.name}: {nest.size} threads in a block, {nest.block[2]} along z; at most "
            f"{MOST_THREADS}, {MOST_ALONG_Z} along z"
        )
    for s in walk(nest.body):
        if isinstance(s, For) and s.kind in THREADS:
            raise NestError(f"{func.name}: loop {s.name} ({s.kind}) is not in one nest with others")
        if isinstance(s, Collective) and nest.size % WARP:
            raise NestError(
                f"{func.name}: {statement_lines([s])[0]} in a block of {nest.size} threads: "
                f"its last warp has fewer than {WARP}"
            )
    return nest


def thread_nest(loop: For) -> tuple[list[For], tuple[Statement, ...]]:
    """(the loops of threads right within each other, x before y before z, what is inside)."""
    axes, body = [loop], loop.body
    while len(body) == 1 and isinstance(s := body[0], For) and s.kind.startswith("threadIdx"):
        axes.append(s)
        body = s.body
    return sorted(axes, key=lambda s: s.kind), body


def has_meeting(statements: Sequence[Statement]) -> bool:
    """Whether threads wait for each other somewhere in these statements."""
    return any(isinstance(s, (Barrier, Collective)) for s in walk(statements))

"""An arena for several programs: the largest plan wins, the others fit inside.

    arena = Arena()
    train = build(step, arena=arena, ...)
    evaluate = build(loss, arena=arena, ...)

Nothing in an arena outlives a run: feeds come in, fetches and new values go out as copies.  So
programs that take turns can do so on the same bytes.  They are bound to addresses; when a larger
one comes, all let go of the old memory at once, before the new one is taken, and each is bound
again when it is next called.  Building the largest first spares that.

A program in several memory spaces has room in each: an arena has one more for each other space
(`beside`), which the same programs share, under the same lock.

The memory belongs to the programs: it goes with the last of them.  A smaller arena is only made on
demand (`trim`), because the others would have to be bound again.

Locks: a program takes those of its variables first, then that of its arena, in which nothing waits
for anybody.  A kernel that runs a program on the very arena it computes in would destroy what is
there; that is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional, Protocol
from weakref import WeakSet, ref

from byparts_graph_ir import HOST, GraphError, Space, add_note
from byparts_graph_ir.contract import checked
from byparts_graph_ir.fork import make_lock
from byparts_runtime.memory.kept import MOST_BYTES, KeptResults
from byparts_runtime.memory.pickling import stays


class Block:
    """The memory of an arena at one time; whoever holds it keeps it from being freed."""

    __slots__ = ("__weakref__", "memory", "size_bytes")

    def __init__(self, space: Space, size_bytes: int) -> None:
        self.memory: Any = _allocated(space, size_bytes)
        self.size_bytes = size_bytes


class Tenant(Protocol):
    """Something that computes in an arena."""

    @property
    def needs_bytes(self) -> int:
        """Bytes that the tenant needs, from the start of the arena."""

    def move(self, block: Optional[Block]) -> None:
        """Let go of the memory it has had; `None`: for now there is no other."""


class Arena:
    """Memory that programs share, one running at a time.

    Args:
        space: of the programs' backends.
        kept_bytes: how much memory of large fetches (from a megabyte) its programs keep for their
            next calls, all together; what was used longest ago is given back first.
        reserve_bytes: it is never smaller than this while it has a program: who knows the largest
            plan beforehand spares the others being bound again.

    Attributes:
        lock: held while a program runs in it.
        inside: whether this thread holds it.
        results: the memory of large fetches that is kept.
    """

    @checked
    def __init__(
        self, space: Space = HOST, *, reserve_bytes: int = 0, kept_bytes: int = MOST_BYTES
    ) -> None:
        for name, size in (("reserve_bytes", reserve_bytes), ("kept_bytes", kept_bytes)):
            if size < 0:
                raise GraphError(f"arena: {name} is {size}, and must be at least 0")
        self.results = KeptResults(kept_bytes)
        self.space, self.reserve_bytes, self.lock = space, reserve_bytes, make_lock()
        self.inside: Callable[[], bool] = self.lock._is_owned
        self._tenants: WeakSet[Tenant] = WeakSet()
        self._block: Callable[[], Optional[Block]] = _nothing  # weak: the tenants hold it
        self._beside: dict[Space, Arena] = {}

    @property
    def size_bytes(self) -> int:
        """The size of the arena's memory; 0 as long as it has no program."""
        block = self._block()
        return 0 if block is None else block.size_bytes

    @property
    def needed_bytes(self) -> int:
        """Bytes that the largest program in the arena needs."""
        with self.lock:
            return max((t.needs_bytes for t in self._tenants), default=0)

    @property
    def programs(self) -> int:
        """The number of programs in the arena, those bound to a caller's arrays counted apart."""
        return len(self._tenants)

    def beside(self, space: Space) -> Arena:
        """The arena that the same programs have in another space, under the same lock."""
        with self.lock:
            arena = self._beside.get(space)
            if arena is None:
                arena = self._beside[space] = Arena(space)
                arena.lock, arena.inside = self.lock, self.inside
            return arena

    def join(self, tenant: Tenant) -> None:
        """Give a program room; the arena grows if it must.

        Raises:
            GraphError: it is a run in this arena that asks.
            MemoryError: there is no room; the other programs keep theirs.
        """
        with self.from_outside():
            self.make_room(tenant)
            self._tenants.add(tenant)

    def make_room(self, tenant: Tenant) -> None:
        """Give a program room that may be a tenant already.  The caller holds the lock."""
        block = None  # not the present one: whoever holds that keeps it from being freed
        if self._block() is None or self.size_bytes < tenant.needs_bytes:
            block = self._resize(max(tenant.needs_bytes, self.reserve_bytes))
        tenant.move(block or self._block())

    def trim(self, *, factor: int = 1) -> None:
        """Make it as small as the programs that are left allow, in every space.

        Args:
            factor: only where it is more than so many times as large as they need, since the
                programs are bound again.

        Raises:
            GraphError: it is a run in this arena that asks.
        """
        with self.from_outside():
            for arena in (self, *self._beside.values()):
                size = max(arena.needed_bytes, arena.reserve_bytes)
                if factor * size < arena.size_bytes:
                    arena._resize(size)

    def release(self) -> None:
        """Give back all memory of large fetches that is kept for next calls.

        Arrays that the caller has stay as they are.

        Raises:
            GraphError: it is a run in this arena that asks.
        """
        with self.from_outside():
            self.results.shrink(0)

    def from_outside(self) -> Any:
        """The lock, if it is not a run in this arena that asks.

        Raises:
            GraphError: it is.
        """
        if self.inside():
            raise GraphError(
                "this arena is in use by a run that has not ended: what runs inside a program "
                'needs memory of its own, build(..., arena=None) or Executor(..., arena="own")'
            )
        return self.lock

    def _resize(self, size_bytes: int) -> Block:
        """All tenants into other memory; the old one is freed first.  What was in it is nobody's.

        If that fails, they are where there is as much room as before.
        """
        before = self.size_bytes
        self.space.synchronize()
        self._move(None)
        try:
            block = Block(self.space, size_bytes)
        except BaseException:
            if before:
                self._move(Block(self.space, before))
            raise
        self._move(block)
        return block

    def _move(self, block: Optional[Block]) -> None:
        self._block = _nothing if block is None else ref(block)
        for tenant in self._tenants:
            tenant.move(block)

    __reduce__ = stays("make another one there")

    def __repr__(self) -> str:
        return f"Arena({self.size_bytes} bytes in {self.space.name}, {self.programs} programs)"


def _nothing() -> Optional[Block]:
    return None


def _allocated(space: Space, size_bytes: int) -> Any:
    try:
        return space.allocate(size_bytes)
    except Exception as error:  # a device has errors of its own
        how = "build(..., budget_bytes=...) computes values again instead of keeping them"
        add_note(error, f"for an arena of {size_bytes:,} bytes; {how}")
        raise

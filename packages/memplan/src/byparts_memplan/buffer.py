"""The problem and its answer: buffers with lifetimes, and where in one arena each of them lies.

A buffer is a rectangle, steps across and bytes up; placing is packing rectangles that may only move
up and down (dynamic storage allocation: NP-hard).  What is alive together must lie apart, so the
largest sum of live sizes bounds every arena from below; on real networks it is nearly always
reached.  All are plain values, useful without any graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import gcd
from operator import index

from byparts_graph_ir import GraphError
from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.tuning import BOUND_ALIGNMENTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from byparts_graph_ir import Graph
    from byparts_memplan.placed import Placement


class PlanError(GraphError):
    """A problem that cannot be planned, or a plan that is not valid."""


class OverBudget(PlanError):
    """A pass could not bring a graph within a budget of bytes.

    Attributes:
        graph: the result with the smallest peak that the pass has reached.
    """

    @property
    def graph(self) -> Graph:
        """The graph with the smallest peak."""
        raise NotImplementedError


class DoesNotFit(PlanError):
    """No placement within the capacity: there is none, or none was found in time.

    Attributes:
        placement: the best that was found, over the capacity; its lower bound beside it.
        proved: whether there is none.
        subset: buffers (positions) that do not fit even alone; without any one of them the rest
            does.  Empty unless proved and small enough to be found in time.
    """

    placement: Placement
    proved: bool
    subset: tuple[int, ...]

    def __init__(
        self, message: str, placement: Placement, proved: bool, subset: tuple[int, ...] = ()
    ) -> None:
        super().__init__(message)
        self.placement, self.proved, self.subset = placement, proved, subset

    def __reduce__(self) -> tuple[Any, ...]:  # or a pool of processes would wait for it forever
        return type(self), (str(self), self.placement, self.proved, self.subset)


class Buffer(Frozen):
    """Bytes that must stay untouched during the steps `[born, dies)`.

    Attributes:
        size_bytes: how many; 0 is allowed and takes no place.
        born: the step that writes it first.
        dies: the first step that no longer needs it (half-open).
        alignment: its offset is a multiple of this.
        pinned: the offset it must have, `None` where the planner is free.
        gaps: half-open intervals of steps within its life in which nobody needs its bytes, sorted
            and apart; others may lie there meanwhile.
        space: which memory it is in; buffers in different spaces never meet.

    Raises:
        PlanError: the numbers make no sense together.
    """

    size_bytes: int
    born: int
    dies: int
    alignment: int = 1
    pinned: int | None = None
    gaps: tuple[tuple[int, int], ...] = ()
    space: str = ""

    def __post_init__(self) -> None:
        four = {type(self.size_bytes), type(self.born), type(self.dies), type(self.alignment)}
        if four != {int} or self.pinned.__class__ not in (int, None.__class__):
            self._to_python_integers()
        if not isinstance(self.space, str):
            raise PlanError(f"{self} needs the name of a space, such as 'sram'; '' is the default")
        if self.size_bytes < 0 or self.alignment < 1:
            raise PlanError(f"{self} needs size_bytes >= 0 and alignment >= 1")
        if self.dies < self.born:
            raise PlanError(f"{self} dies before it is born")
        if self.pinned is not None and (self.pinned < 0 or self.pinned % self.alignment):
            raise PlanError(f"{self} is pinned to an offset that its alignment forbids")
        if self.gaps.__class__ is not tuple or self.gaps:
            self._check_gaps()

    def _to_python_integers(self) -> None:
        """Replace NumPy's integers by Python's, which do not overflow and which JSON can write."""
        for name in ("size_bytes", "born", "dies", "alignment", "pinned"):
            value = getattr(self, name)
            if name == "pinned" and value is None:
                continue
            if isinstance(value, bool) or not hasattr(value, "__index__"):
                raise PlanError(f"{self} needs integers: bytes and steps; {name} is {value!r}")
            try:
                object.__setattr__(self, name, index(value))
            except TypeError:  # an array of several
                raise PlanError(f"{self} needs one integer; {name} is {value!r}") from None

    def _check_gaps(self) -> None:
        try:
            gaps = tuple([(index(lower), index(upper)) for lower, upper in self.gaps])
        except (TypeError, ValueError):
            raise PlanError(
                f"{self} needs gaps that are pairs of steps: ((2, 4), (7, 9))"
            ) from None
        object.__setattr__(self, "gaps", gaps)
        step = self.born
        for lower, upper in gaps:
            if not step <= lower < upper <= self.dies:
                raise PlanError(f"{self} needs gaps that are sorted, apart and within its life")
            step = upper + 1

    @property
    def lives(self) -> tuple[tuple[int, int], ...]:
        """The intervals of steps in which its bytes are needed: its life without the gaps."""
        if not self.gaps:
            return ((self.born, self.dies),) if self.born < self.dies else ()
        borns = (self.born, *(upper for _, upper in self.gaps))
        ends = (*(lower for lower, _ in self.gaps), self.dies)
        return tuple((b, e) for b, e in zip(borns, ends, strict=True) if b < e)


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """Bytes that any arena needs: the largest sum of live sizes, with the padding between them.

    Offsets of buffers whose alignments are all multiples of one number are multiples of it too, so
    those that live together pad to it, but for the one on top; the padding of each alignment is
    tried, and of their greatest common divisor.  A buffer also needs its own end, which may be
    pinned.  Of several spaces, the sum.  O(n log n) for each alignment.

    Raises:
        PlanError: something is no buffer.
    """
    buffers = checked(buffers)
    spaces = by_space(buffers).values()
    return sum([_bound([buffers[i] for i in inside]) for inside in spaces])


def checked(buffers: Iterable[Buffer]) -> tuple[Buffer, ...]:
    """The buffers as a tuple.

    Raises:
        PlanError: one is no buffer; says which.
    """
    try:
        items = iter(buffers)
    except TypeError:
        raise PlanError(f"expected buffers, in a list; got {buffers!r:.60}") from None
    some = tuple(items)
    for i, item in enumerate(some):
        if not isinstance(item, Buffer):
            raise PlanError(f"buffers[{i}] is {item!r:.60}; expected a Buffer")
    return some


def checked_bytes(name: str, number: int) -> int:
    """A number of bytes as Python's integer; infinity is no limit.

    Raises:
        PlanError: it is no number; its name and value.
    """
    if not is_number(number):
        raise PlanError(f"{name} is {number!r:.60}; expected a number of bytes, or those by space")
    return index(number) if hasattr(number, "__index__") else number


def check_kind(value: object, kind: type) -> None:
    """Raise PlanError unless `value` is an instance of `kind`."""
    if not isinstance(value, kind):
        raise PlanError(f"expected a {kind.__name__}; got {value!r:.60}")


def is_integer(value: Any) -> bool:
    """Whether `value` is one whole number, of any type; a bool is, an array of several is not."""
    return hasattr(value, "__index__") and is_number(value)


def is_number(value: Any) -> bool:
    """Whether `value` is one number, of any type, and not NaN."""
    try:
        return hasattr(value, "__float__") and bool(value <= 0 or value > 0)
    except (TypeError, ValueError, ArithmeticError):  # a class, an array, NaN of decimal
        return False


def by_space(buffers: Iterable[Buffer]) -> dict[str, list[int]]:
    """The positions of the buffers of each space; spaces in order of first use."""
    spaces: dict[str, list[int]] = {}
    for i, b in enumerate(buffers):
        spaces.setdefault(b.space, []).append(i)
    return spaces


def _bound(buffers: Sequence[Buffer]) -> int:
    """The lower bound of one space."""
    ends = [(b.pinned or 0) + b.size_bytes for b in buffers]  # even of those that never live
    alignments = {b.alignment for b in buffers}
    grains = {gcd(*alignments), *(alignments if len(alignments) <= BOUND_ALIGNMENTS else ())}
    lives = [(born, dies, b) for b in buffers if b.size_bytes for born, dies in b.lives]
    lives.sort(key=lambda life: life[0])
    return max([*ends, *[_fullest(lives, grain) for grain in grains]])


def _fullest(lives: Sequence[tuple[int, int, Buffer]], grain: int) -> int:
    """The most bytes alive of buffers aligned to `grain`, padded; `lives` in order of birth."""
    best = live = 0
    leaving: list[tuple[int, int]] = []  # heap of (dies, bytes)
    pads: list[tuple[int, int]] = []  # heap of (-padding, dies)
    for born, dies, b in lives:
        if b.alignment % grain:
            continue
        while leaving and leaving[0][0] <= born:
            live -= heappop(leaving)[1]
        padding = -b.size_bytes % grain
        live += b.size_bytes + padding
        heappush(leaving, (dies, b.size_bytes + padding))
        heappush(pads, (-padding, dies))
        while pads[0][1] <= born:
            heappop(pads)
        best = max(best, live + pads[0][0])
    return best

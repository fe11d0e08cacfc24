"""Vectors in the language: lanes, partial results in registers, and rounds taken many at a time.

    for j in range(100):  # as vectors
      register sum: f32 x 16                  a register holds a number for each lane
      sum = 0.0
      for j by 16:                            while 16 rounds are left
        for j' in j + [0 .. 16):              all lanes at once
          sum = sum + x[j']
      for the rest of j: n of 100             once, if there is a rest
        for j' in j + [0 .. 16) if j' < n:    the lanes that there are
          ...

`vectorize.py` makes these of loops; an emitter prints them, and decides nothing.  The meaning is
that of the loops that they come from (`interpret.py`): lanes one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from byparts_tensor_ir.expression import INDEX, Expr, make
from byparts_tensor_ir.statement import For, Group, Statement


@dataclass(frozen=True)
class Lanes:
    """The lanes of a vector: their variable is `base` + 0, 1, ..., `count` - 1.

    Attributes:
        var: the variable.
        base: its value in lane 0.
        lanes: of a whole vector.
        count: how many lanes there are, `None` for all.
    """

    var: Expr
    base: Expr
    lanes: int
    count: Expr | None = None


class Register:
    """The number behind an expression `register`: one for each lane, in no buffer.

    Attributes:
        name: the stem of its name.
        number: what is printed after it, if anything; generated code has numbers of its own.
        lanes: how many numbers; 1 is a plain number.
        changes: whether rounds of a loop assign it anew.
    """

    __slots__ = ("changes", "lanes", "name", "number")

    def __init__(self, name: str, lanes: int, number: int | None, changes: bool) -> None:
        self.name, self.lanes, self.number, self.changes = name, lanes, number, changes

    def __repr__(self) -> str:
        return self.name if self.number is None else f"{self.name}{self.number}"


def register(
    name: str, dtype: str, lanes: int = 1, number: int | None = None, changes: bool = False
) -> Expr:
    """A new register; in a vector it is the number of the lane."""
    return make("register", (), dtype, Register(name, lanes, number, changes))


def half(whole: Expr, which: int) -> Expr:
    """The first (0) or second (1) half of the lanes of a register."""
    return make("half", (whole,), whole.dtype, which)


def lane_mask(count: Expr) -> Expr:
    """Whether the lane is one of the first `count`."""
    return make("lane mask", (count,), "bool")


@dataclass(frozen=True, eq=False)
class Assign(Group):
    """Registers get these values, all computed before; the first assignment declares a register."""

    targets: tuple[Expr, ...]
    values: tuple[Expr, ...]

    @property
    def body(self) -> tuple[Statement, ...]:  # type: ignore[override]
        """Nothing is inside."""
        return ()

    def expressions(self) -> tuple[Expr, ...]:
        """The values."""
        return self.values

    def heads(self) -> list[str]:
        """The line that is printed."""
        return [f"{', '.join(map(str, self.targets))} = {', '.join(map(str, self.values))}"]


@dataclass(frozen=True, eq=False)
class Vector(Group):
    """`body` in all lanes at once."""

    lanes: Lanes
    body: tuple[Statement, ...]

    def heads(self) -> list[str]:
        """The line above the body."""
        at = self.lanes
        some = "" if at.count is None else f", the first {at.count}"
        return [f"for {at.var} in {at.base} + range({at.lanes}):  # lanes{some}"]


@dataclass(frozen=True, eq=False)
class Strip(Group):
    """`body` for the first of each `step` rounds, while so many are left."""

    var: Expr
    step: int
    body: tuple[Statement, ...]

    def heads(self) -> list[str]:
        """The line above the body."""
        return [f"for {self.var} by {self.step}:"]


@dataclass(frozen=True, eq=False)
class Rest(Group):
    """`body` once for all rounds that are left, if there are any.

    Attributes:
        var: the first of them.
        left: a register: how many there are.
    """

    var: Expr
    left: Expr
    body: tuple[Statement, ...]

    def heads(self) -> list[str]:
        """The line above the body."""
        return [f"for the rest of {self.var}, {self.left} rounds:"]


@dataclass(frozen=True, eq=False)
class Strips(Group):
    """The rounds of a loop: each part begins where the one before it has stopped."""

    loop: For
    body: tuple[Statement, ...]

    def heads(self) -> list[str]:
        """No line: the parts say it."""
        return []


@dataclass(frozen=True, eq=False)
class VectorLoop(Group):
    """A loop as vectors.

    Attributes:
        loop: the loop that it comes from.
        once: values that are the same in all rounds, to be computed before.
        body: what stands in its place.
    """

    loop: For
    once: tuple[Expr, ...]
    body: tuple[Statement, ...]

    def heads(self) -> list[str]:
        """The line above the body."""
        return [f"vectors of {self.loop.name}, {self.loop.extent} rounds:"]


@dataclass(frozen=True, eq=False)
class Unrolled(Group):
    """The rounds of a loop written one after the other; each has local buffers of its own."""

    loop: For
    rounds: tuple[tuple[Statement, ...], ...]

    @property
    def body(self) -> tuple[Statement, ...]:  # type: ignore[override]
        """The statements of all rounds."""
        return tuple([s for one in self.rounds for s in one])

    def heads(self) -> list[str]:
        """The line above the body."""
        return [f"rounds of {self.loop.name}:"]


def index_register(name: str) -> Expr:
    """A new register for a number of rounds."""
    return register(name, INDEX)

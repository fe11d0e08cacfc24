"""Chains of stages, and schedules that run them forward and backward with less memory.

    value 0 -> stage 0 -> value 1 -> stage 1 -> ... -> value l

Backward runs from the last stage to the first and reads what each stage saved.  Whoever cannot save
everything keeps some values and computes the rest again.  The model is that of Beaumont et al. 2019
("Optimal checkpointing for heterogeneous chains", https://arxiv.org/abs/1911.13214), with what the
backward of a stage leaves for good (gradients of weights) added.  A schedule is a list of plain
operations; `check_schedule` runs it on symbolic memory, knows nothing of how it was found, and is
the oracle.

The chain's input (value 0) lies elsewhere.  The gradient of its output is there from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import Any

from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_memplan.buffer import PlanError, check_kind, is_number

Operation = tuple[str, int]  # what to do, and the stage (for "drop": the value)


_SIZES = (
    *("output_bytes", "saved_bytes", "forward_extra_bytes", "backward_extra_bytes"),
    *("gradient_bytes", "kept_bytes"),
)


@dataclass(frozen=True)
class Stage:
    """What one stage costs and holds; bytes.

    Attributes:
        forward_cost: of one run forward, in any unit.
        backward_cost: of its run backward, which every schedule pays once.
        output_bytes: of the value it gives.
        saved_bytes: of all that its backward reads, the output included.
        forward_extra_bytes: what running forward takes beside its input and what it makes.
        backward_extra_bytes: what backward takes beside what it reads, the gradient of its input
            included.
        gradient_bytes: of its output's gradient; `None`: as many as the output.
        kept_bytes: what its backward makes that stays to the end.
        reads_input: whether its backward reads its input beside what is saved.

    Raises:
        PlanError: bytes are no integers, or a number is negative.
    """

    forward_cost: float
    backward_cost: float
    output_bytes: int
    saved_bytes: int
    forward_extra_bytes: int = 0
    backward_extra_bytes: int = 0
    gradient_bytes: int | None = None
    kept_bytes: int = 0
    reads_input: bool = True

    def __post_init__(self) -> None:
        for name in ("forward_cost", "backward_cost"):
            given = getattr(self, name)
            if not is_number(given) or given < 0:
                raise PlanError(f"{self} needs bytes and costs >= 0; {name} is {given!r:.60}")
        for name in _SIZES:
            given = getattr(self, name)
            if given is not None or name != "gradient_bytes":
                what = f"{self} needs bytes and costs >= 0; {name}"
                object.__setattr__(self, name, whole(what, given))

    @property
    def dy_bytes(self) -> int:
        """Bytes of the gradient of the output."""
        return self.output_bytes if self.gradient_bytes is None else self.gradient_bytes


@dataclass(frozen=True)
class Chain:
    """Stages, first to last; what one gives is what the next one takes.

    Raises:
        PlanError: there is none, or something is no stage.
    """

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise PlanError("a chain has at least one stage")
        for i, given in enumerate(self.stages):
            if not isinstance(given, Stage):
                raise PlanError(f"stages[{i}] is {given!r:.60}; expected a Stage")
        object.__setattr__(self, "stages", tuple(self.stages))

    @property
    def forward_cost(self) -> float:
        """Of running every stage forward once."""
        return sum(s.forward_cost for s in self.stages)

    def value_bytes(self, v: int) -> int:
        """Bytes of value `v`: what stage `v - 1` gives; the chain's input lies elsewhere."""
        return self.stages[v - 1].output_bytes if v else 0


@dataclass(frozen=True)
class Schedule:
    """Operations in order, and what they come to.

    "forward" i runs stage i and lets its input go, "keep" i leaves the input where it is, "save" i
    besides holds all that the backward reads; "backward" i reads that, and lets it and the input
    go; "drop" v lets value v go.

    Attributes:
        peak_bytes: the most that is held at once.
        extra_cost: of all runs forward, less that of one run of every stage.
    """

    operations: tuple[Operation, ...]
    peak_bytes: int
    extra_cost: float


def homogeneous(
    length: int, output: int, saved: int, forward_extra: int = 0, backward_extra: int = 0
) -> Chain:
    """`length` equal stages, forward 1 and backward 2 in cost; all else is in bytes.

    Raises:
        PlanError: a number is no integer, or too small.
    """
    stage = Stage(1, 2, output, saved, forward_extra, backward_extra)
    return Chain((stage,) * whole("length", length, 1))


def whole(name: str, given: Any, least: int = 0) -> int:
    """An integer of any kind, NumPy's too, as Python's.

    Raises:
        PlanError: it is none, or less than `least`.
    """
    try:
        found = index(int(given) if isinstance(given, float) and given.is_integer() else given)
    except TypeError:
        found = least - 1
    if found < least:
        raise PlanError(f"{name} is {given!r:.60}; expected an integer, {least} or more")
    return found


def scheduled(chain: Chain, operations: Sequence[Operation]) -> Schedule:
    """The schedule of these operations, with its figures.

    Raises:
        PlanError: an operation reads what is not there, or a stage does not run backward.
    """
    peak, cost = 0, 0.0
    for held, spent in _run(chain, operations):
        peak, cost = max(peak, held), cost + spent
    return Schedule(tuple(operations), peak, cost - chain.forward_cost)


def check_schedule(chain: Chain, schedule: Schedule) -> None:
    """Raise PlanError unless the schedule runs, and takes the bytes and the cost that it says.

    O(operations).
    """
    check_kind(chain, Chain)
    check_kind(schedule, Schedule)
    found = scheduled(chain, schedule.operations)
    if found.peak_bytes != schedule.peak_bytes:
        raise PlanError(
            f"the schedule holds {found.peak_bytes} bytes and says {schedule.peak_bytes}"
        )
    tolerance = 1e-9 * (1 + len(schedule.operations)) * (chain.forward_cost + found.extra_cost)
    if abs(found.extra_cost - schedule.extra_cost) > tolerance:
        raise PlanError(
            f"the schedule computes {found.extra_cost} again and says {schedule.extra_cost}"
        )


def _run(chain: Chain, operations: Sequence[Operation]) -> Iterator[tuple[int, float]]:
    """For each operation, the bytes at its worst moment and its cost forward."""
    memory = _Memory(chain)
    for position, (kind, at) in enumerate(operations):
        where = f"operation {position} ({kind} {at})"
        if kind not in _KINDS or not 0 <= at < len(chain.stages) + (kind == "drop"):
            raise PlanError(f"{where} is not one of {', '.join(_KINDS)} with a stage of the chain")
        yield _KINDS[kind](memory, at, where)
    if memory.backward_next != -1:
        raise PlanError(f"stage {memory.backward_next} never runs backward")


class _Memory:
    """What is held between operations: values, saved sets, one gradient, and what stays."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.values: set[int] = set()
        self.saved: set[int] = set()
        self.backward_next = len(chain.stages) - 1
        self.held = chain.stages[-1].dy_bytes

    def forward(self, i: int, where: str) -> tuple[int, float]:
        found = self.keep(i, where)
        self._let_go(i)
        return found

    def keep(self, i: int, where: str) -> tuple[int, float]:
        self._needs(i, where)
        self._holds(i + 1)
        stage = self.chain.stages[i]
        return self.held + stage.forward_extra_bytes, stage.forward_cost

    def save(self, i: int, where: str) -> tuple[int, float]:
        self._needs(i, where)
        stage = self.chain.stages[i]
        if i not in self.saved:
            self.saved.add(i)
            self.held += stage.saved_bytes
        self._let_go(i + 1)  # it is part of what is saved
        return self.held + stage.forward_extra_bytes, stage.forward_cost

    def backward(self, i: int, where: str) -> tuple[int, float]:
        stage = self.chain.stages[i]
        if i != self.backward_next:
            raise PlanError(f"{where}: stage {self.backward_next} runs backward next")
        if i not in self.saved:
            raise PlanError(f"{where}: what its backward reads is not saved")
        if stage.reads_input:
            self._needs(i, where)
        self.held += stage.kept_bytes
        worst = self.held + stage.backward_extra_bytes
        self.saved.discard(i)
        self._let_go(i)
        before = self.chain.stages[i - 1].dy_bytes if i else 0
        self.held += before - stage.saved_bytes - stage.dy_bytes
        self.backward_next = i - 1
        return max(worst, self.held), 0.0

    def drop(self, v: int, where: str) -> tuple[int, float]:
        if v not in self.values:
            raise PlanError(f"{where}: it is not held")
        held = self.held
        self._let_go(v)
        return held, 0.0

    def _needs(self, v: int, where: str) -> None:
        if v and v not in self.values and v - 1 not in self.saved:
            raise PlanError(f"{where}: value {v} is not held")

    def _holds(self, v: int) -> None:
        if v not in self.values and v - 1 not in self.saved:
            self.values.add(v)
            self.held += self.chain.value_bytes(v)

    def _let_go(self, v: int) -> None:
        if v in self.values:
            self.values.discard(v)
            self.held -= self.chain.value_bytes(v)


_KINDS = {
    "forward": _Memory.forward,
    "keep": _Memory.keep,
    "save": _Memory.save,
    "backward": _Memory.backward,
    "drop": _Memory.drop,
}

"""Chains of stages, and schedules that run them forward and backward with less memory.

    value 0 -> stage 0 -> value 1 -> stage 1 -> ... -> value l

Backward runs from the last stage to the first and reads what each stage saved.  Where memory is too
small to save everything, a schedule keeps some values and computes the rest again.  The model is
that of Beaumont et al. 2019 ("Optimal checkpointing for heterogeneous chains",
https://arxiv.org/abs/1911.13214), and in addition a backward may leave bytes to the end (gradients
of weights).  A schedule is a list of operations; `check_schedule` runs it on symbolic memory and
knows nothing of how it was computed: it is the oracle of the tests.

The chain's input (value 0) takes no bytes.  The gradient of its output is held from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from byparts_graph_ir.model.frozen import Frozen
from byparts_memplan.buffer import PlanError, check_kind, is_number
from byparts_recompute.arguments import whole_number

Operation = tuple[str, int]  # what to do, and the stage (for "drop": the value)


_SIZES = (
    *("output_bytes", "saved_bytes", "forward_extra_bytes", "backward_extra_bytes"),
    *("gradient_bytes", "kept_bytes"),
)


class Stage(Frozen):
    """The costs and bytes of one stage.

    Attributes:
        forward_cost: of one forward run, in any unit.
        backward_cost: of its backward run; every schedule has one.
        output_bytes: of the value that it computes.
        saved_bytes: of all that its backward reads, the output included.
        forward_extra_bytes: held during a forward run in addition to its input and results.
        backward_extra_bytes: held during the backward run in addition to what it reads, the
            gradient of its input included.
        gradient_bytes: of its output's gradient; `None`: as many as the output.
        kept_bytes: of the results of its backward that stay to the end.
        reads_input: whether its backward reads its input in addition to what is saved.

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
            value = getattr(self, name)
            if not is_number(value) or value < 0:
                raise PlanError(f"{self} needs bytes and costs >= 0; {name} is {value!r:.60}")
        for name in _SIZES:
            value = getattr(self, name)
            if value is not None or name != "gradient_bytes":
                what = f"{self} needs bytes and costs >= 0; {name}"
                object.__setattr__(self, name, whole_number(what, value))

    @property
    def dy_bytes(self) -> int:
        """Bytes of the gradient of the output."""
        return self.output_bytes if self.gradient_bytes is None else self.gradient_bytes


class Chain(Frozen):
    """Stages, first to last; the output of each is the input of the next.

    Raises:
        PlanError: there are none, or one is not a `Stage`.
    """

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise PlanError("a chain has at least one stage")
        for i, stage in enumerate(self.stages):
            if not isinstance(stage, Stage):
                raise PlanError(f"stages[{i}] is {stage!r:.60}; expected a Stage")
        object.__setattr__(self, "stages", tuple(self.stages))

    @property
    def forward_cost(self) -> float:
        """The cost of running every stage forward once."""
        return sum(s.forward_cost for s in self.stages)

    def value_bytes(self, v: int) -> int:
        """Bytes of value `v`, the output of stage `v - 1`; the chain's input takes none."""
        return self.stages[v - 1].output_bytes if v else 0


class Schedule(Frozen):
    """Operations in order, with their peak and cost.

    "forward" i runs stage i and frees its input; "keep" i runs it and leaves the input held; "save"
    i does that and holds all that the backward reads; "backward" i reads that, and frees it and the
    input; "drop" v frees value v.

    Attributes:
        peak_bytes: the most that is held at once.
        extra_cost: of all forward runs, less that of one run of every stage.
    """

    operations: tuple[Operation, ...]
    peak_bytes: int
    extra_cost: float


def homogeneous(
    length: int, output: int, saved: int, forward_extra: int = 0, backward_extra: int = 0
) -> Chain:
    """`length` equal stages with forward cost 1 and backward cost 2; the other numbers are bytes.

    Raises:
        PlanError: a number is no integer, or too small.
    """
    stage = Stage(1, 2, output, saved, forward_extra, backward_extra)
    return Chain((stage,) * whole_number("length", length, 1))


def scheduled(chain: Chain, operations: Sequence[Operation]) -> Schedule:
    """The schedule of these operations, with its peak and cost.

    Raises:
        PlanError: an operation reads what is not held, or a stage does not run backward.
    """
    peak, cost = 0, 0.0
    for held, spent in _run(chain, operations):
        peak, cost = max(peak, held), cost + spent
    return Schedule(tuple(operations), peak, cost - chain.forward_cost)


def check_schedule(chain: Chain, schedule: Schedule) -> None:
    """Raise PlanError unless the schedule runs, with exactly the peak and the cost that it states.

    O(operations).
    """
    check_kind(chain, Chain)
    check_kind(schedule, Schedule)
    actual = scheduled(chain, schedule.operations)
    if actual.peak_bytes != schedule.peak_bytes:
        raise PlanError(
            f"the schedule holds {actual.peak_bytes} bytes and says {schedule.peak_bytes}"
        )
    tolerance = 1e-9 * (1 + len(schedule.operations)) * (chain.forward_cost + actual.extra_cost)
    if abs(actual.extra_cost - schedule.extra_cost) > tolerance:
        raise PlanError(
            f"the schedule computes {actual.extra_cost} again and says {schedule.extra_cost}"
        )


def _run(chain: Chain, operations: Sequence[Operation]) -> Iterator[tuple[int, float]]:
    """For each operation, the most bytes held during it, and its forward cost."""
    memory = _Memory(chain)
    for position, (kind, at) in enumerate(operations):
        where = f"operation {position} ({kind} {at})"
        if kind not in _KINDS or not 0 <= at < len(chain.stages) + (kind == "drop"):
            raise PlanError(f"{where} is not one of {', '.join(_KINDS)} with a stage of the chain")
        yield _KINDS[kind](memory, at, where)
    if memory.backward_next != -1:
        raise PlanError(f"stage {memory.backward_next} never runs backward")


class _Memory:
    """The memory that operations change: values, saved sets, one gradient, and kept bytes."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.values: set[int] = set()
        self.saved: set[int] = set()
        self.backward_next = len(chain.stages) - 1
        self.held = chain.stages[-1].dy_bytes

    def forward(self, i: int, where: str) -> tuple[int, float]:
        worst = self.keep(i, where)
        self._free(i)
        return worst

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
        self._free(i + 1)  # it is part of what is saved
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
        self._free(i)
        before = self.chain.stages[i - 1].dy_bytes if i else 0
        self.held += before - stage.saved_bytes - stage.dy_bytes
        self.backward_next = i - 1
        return max(worst, self.held), 0.0

    def drop(self, v: int, where: str) -> tuple[int, float]:
        if v not in self.values:
            raise PlanError(f"{where}: it is not held")
        held = self.held
        self._free(v)
        return held, 0.0

    def _needs(self, v: int, where: str) -> None:
        if v and v not in self.values and v - 1 not in self.saved:
            raise PlanError(f"{where}: value {v} is not held")

    def _holds(self, v: int) -> None:
        if v not in self.values and v - 1 not in self.saved:
            self.values.add(v)
            self.held += self.chain.value_bytes(v)

    def _free(self, v: int) -> None:
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

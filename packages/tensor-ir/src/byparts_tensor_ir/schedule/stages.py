"""A stage for each tensor of a schedule; its methods are steps on the loops of that tensor.

`facade.py` makes them.  A stage knows the name of its block and the loop of each axis, nothing
else: all that is done is a step of a `Schedule`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Union

from byparts_tensor_ir.expression import Expr, variable
from byparts_tensor_ir.intrinsic import Intrinsic
from byparts_tensor_ir.lower import (
    block_name,
    computation_order,
    loop_names,
    lower,
    tensor_names,
)
from byparts_tensor_ir.schedule.find import (
    ScheduleError,
    block_of,
    fresh_name,
    loop_of,
    loops_around,
)
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import SCOPES, Buffer, Func, stores
from byparts_tensor_ir.substitute import variables
from byparts_tensor_ir.tensor import Operation, Reduction, Tensor

Loop = Union[str, Expr]


@dataclass(frozen=True)
class ThreadAxis:
    """A thread axis of a GPU, and its extent if the program says it."""

    tag: str
    extent: int | None = None


@dataclass(frozen=True)
class StageAxes:
    """The axes of a stage as it is now: the rule that it computes may have changed."""

    axis: tuple[Expr, ...]
    reduce_axis: tuple[Expr, ...]


@dataclass
class Stage:
    """The loops that compute one tensor; its methods are the steps on them.

    Attributes:
        owner: the schedule.
        block: the name of the block in `owner.func`.
        op: the axes of what the block computes.
        loops: the name of the loop of each axis.
        scope: memory of the buffer once `compute_at` moves it; "" for the usual.
    """

    owner: TensorSchedule
    block: str
    op: StageAxes
    loops: dict[Expr, str] = field(repr=False)
    scope: str = ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        methods = [n for n, f in vars(Stage).items() if callable(f) and n[0] != "_"]
        raise ScheduleError(f"stage {self.block} has no {name!r}; it has {', '.join(methods)}")

    def split(
        self, loop: Loop, factor: int | None = None, nparts: int | None = None
    ) -> tuple[str, str]:
        """(outer, inner): the inner loop has `factor` rounds, or the outer loop `nparts`.

        Raises:
            ScheduleError: both or neither are given, and what `loops.split` raises.
        """
        if (factor is None) == (nparts is None):
            raise ScheduleError(f"split {loop}: give either factor or nparts")
        name = self._name(loop)
        names = tuple([fresh_name(self.owner.func, f"{name}_{side}") for side in "oi"])
        if factor is not None:
            self._do("split", name, factor)
        else:
            self._do("split", name, 1, parts=nparts)
        return names[0], names[1]

    def tile(self, x: Loop, y: Loop, x_factor: int, y_factor: int) -> tuple[str, str, str, str]:
        """Split both loops, and put the inner ones inside: x outer, y outer, x inner, y inner."""
        xo, xi = self.split(x, x_factor)
        yo, yi = self.split(y, y_factor)
        self.reorder(xo, yo, xi, yi)
        return xo, yo, xi, yi

    def fuse(self, *loops: Loop) -> str:
        """Fuse nested loops, outermost first, into one and return its name."""
        names = [self._name(x) for x in loops]
        if not names:
            raise ScheduleError(f"fuse: no loops of {self.block} are given")
        fused = names[0]
        for inner in names[1:]:
            joint = fresh_name(self.owner.func, f"{fused}_{inner}")
            self._do("fuse", fused, inner)
            fused = joint
        return fused

    def reorder(self, *loops: Loop) -> None:
        """Put loops of the stage in this order, outermost first."""
        self._do("reorder", *[self._name(x) for x in loops])

    def vectorize(self, loop: Loop) -> None:
        """All rounds at once, in vectors."""
        self._do("vectorize", self._name(loop))

    def parallel(self, loop: Loop) -> None:
        """The rounds are shared among threads of the CPU."""
        self._do("parallel", self._name(loop))

    def unroll(self, loop: Loop) -> None:
        """The body is written once for each round."""
        self._do("unroll", self._name(loop))

    def bind(self, loop: Loop, thread: ThreadAxis) -> None:
        """Each round is a thread of a GPU.

        Raises:
            ScheduleError: the loop has another extent than the thread axis, and what `loops.bind`
                raises.
        """
        name = self._name(loop)
        extent = loop_of(self.owner.func, name).extent
        if thread.extent is not None and extent.attr != thread.extent:
            raise ScheduleError(
                f"bind {name}: {thread.tag} has {thread.extent} threads and the loop {extent} "
                "rounds"
            )
        self._do("bind", name, thread.tag)

    def compute_at(self, stage: Stage, loop: Loop) -> None:
        """Compute below a loop of another stage what that stage reads there."""
        named = {"scope": self.scope} if self.scope else {}
        self._do("compute_at", self.block, stage._name(loop), **named)

    def tensorize(self, loop: Loop, intrinsic: Intrinsic) -> None:
        """The intrinsic runs the loop and those below it."""
        self._do("tensorize", self._name(loop), intrinsic)

    def compute_inline(self) -> None:
        """Readers compute the elements themselves."""
        self._do("inline", self.block)

    def set_scope(self, scope: str) -> None:
        """The memory of the stage's buffer, also after `compute_at`."""
        self._do("set_scope", self.block, scope)
        self.scope = scope

    def _do(self, step: str, *args: Any, **named: Any) -> None:
        getattr(self.owner.schedule, step)(*args, **named)

    def _name(self, loop: Loop) -> str:
        """The name of a loop that is given by name or by the axis that it was made of."""
        if isinstance(loop, str):
            return loop
        if loop not in self.loops:
            known = ", ".join(map(str, self.loops))
            raise ScheduleError(f"{loop} is no axis of {self.block}; its axes: {known}")
        return self.loops[loop]


class TensorSchedule:
    """A schedule with a stage for each tensor; made by `create_schedule`.

    Attributes:
        schedule: the function so far, and the steps that made it.
    """

    def __init__(self, outputs: Sequence[Tensor]) -> None:
        order = computation_order(outputs)
        self.names = tensor_names(order)
        self.stages: dict[Buffer, Stage] = {}
        for t in order:
            r = t.recurrence
            if r is not None:
                self._add(r.init, block_name(r.init, self.names))
                self._add(r.update, self.names[t])
                self.stages[t] = self.stages[r.update]
            elif t.rule is not None:
                self._add(t, block_name(t, self.names))
        inputs = [t for t in order if t.rule is None and t.recurrence is None]
        self.schedule = Schedule(lower([*inputs, *outputs], "main", self.names))

    def _add(self, tensor: Tensor, block: str) -> None:
        op = StageAxes(tensor.op.axis, tensor.op.reduce_axis)
        self.stages[tensor] = Stage(self, block, op, loop_names(tensor, self.names))

    @property
    def func(self) -> Func:
        """The function as the last step left it."""
        return self.schedule.func

    def __getitem__(self, tensor: Union[Tensor, Operation]) -> Stage:
        t = tensor.tensor if isinstance(tensor, Operation) else tensor
        if t not in self.stages:
            blocks = ", ".join(dict.fromkeys(s.block for s in self.stages.values()))
            raise ScheduleError(f"{t} has no stage; stages: {blocks}")
        return self.stages[t]

    def cache_write(self, tensor: Tensor, scope: str) -> Tensor:
        """The tensor's rule fills a buffer of its own, a new stage; the tensor is copied from it.

        Raises:
            ScheduleError: the loops of the tensor's stage were changed before.
        """
        _check_scope(scope)
        stage = self[tensor]
        block = stage.block
        self.schedule.write_through(block, scope)
        cached = self.func.locals[-1]
        axes = stage.op.axis
        over = stage.op.reduce_axis
        names = [cached.name + stage.loops[a].removeprefix(block) for a in (*axes, *over)]
        own = tuple([variable(n, a.attr.extent) for n, a in zip(names, axes, strict=False)])
        buffered = Tensor(cached.name, cached.shape, cached.dtype, cached.scope, own, tensor.rule)
        loops = dict(zip((*own, *over), names, strict=True))
        op = StageAxes(own, over)
        self.stages[buffered] = Stage(self, cached.name, op, loops, scope)
        stage.op = StageAxes(axes, ())
        stage.loops = {a: stage.loops[a] for a in axes}
        return buffered

    def cache_read(
        self, tensor: Tensor, scope: str, readers: Union[Tensor, Sequence[Tensor]]
    ) -> Tensor:
        """The readers read a copy of the tensor, a new stage."""
        _check_scope(scope)
        name = self.names.get(tensor, tensor.name)
        of = [readers] if isinstance(readers, Tensor) else readers
        blocks = [self[r].block for r in of]
        self.schedule.read_through(name, scope, blocks)
        cached = self.func.locals[-1]
        store = block_of(self.func, cached.name)
        copy = Tensor(
            cached.name, cached.shape, cached.dtype, cached.scope, store.index, store.values[0]
        )
        loops = {a: str(a.attr.name) for a in store.index}
        self.stages[copy] = Stage(self, cached.name, StageAxes(store.index, ()), loops, scope)
        return copy

    def rfactor(self, tensor: Tensor, axis: Loop) -> Tensor:
        """Partial results for each round of a reduction loop, a new stage; the tensor adds them.

        The first axis of the new stage is the loop; the tensor reduces over it alone.
        """
        stage = self[tensor]
        block, loop = stage.block, stage._name(axis)
        self.schedule.rfactor(block, loop)
        buffer, final = self.func.locals[-1], block_of(self.func, block)
        part = next(s for s in stores(self.func.body) if buffer in s.targets)
        nest = {x.var: x.name for x in loops_around(self.func, part)}
        rest = tuple([v for v in nest if any(v in variables(e) for e in part.over)])
        data = sorted([v for v in nest if v not in rest], key=lambda v: nest[v] != loop)
        assert part.reducer is not None
        rule = Reduction(part.reducer, part.values, rest)
        partial = Tensor(buffer.name, buffer.shape, buffer.dtype, buffer.scope, tuple(data), rule)
        self.stages[partial] = Stage(self, part.block, StageAxes(tuple(data), rest), nest)
        stage.loops = {x.var: x.name for x in loops_around(self.func, final)}
        stage.op = StageAxes(final.index, final.over)
        for a, b in zip(tensor.op.axis, final.index, strict=True):
            stage.loops[a] = stage.loops[b]
        return partial

    def __str__(self) -> str:
        return str(self.schedule)


def _check_scope(scope: str) -> None:
    if scope not in SCOPES:
        raise ScheduleError(f"no memory {scope!r}: one of {', '.join(SCOPES)}")

"""Bound steps as instructions of one backend, so that loops over its steps are one call of C.

What may take part has a method `lines`; it gives `None` where it needs Python in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import setitem
from typing import TYPE_CHECKING, Any, Optional

from byparts_graph_ir import Backend, TensorType, add_note, has_effect
from byparts_graph_ir.backend.instruction import Counter, Host, Move
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.model.frozen import Frozen
from byparts_runtime.memory.plan import Bytes
from byparts_runtime.run.results import Changing
from byparts_runtime.run.step import Step

if TYPE_CHECKING:
    from byparts_graph_ir.backend.instruction import Line

Lines = Optional[Sequence["Line"]]


class AtRound(Frozen):
    """Something that a round of a loop does before or after its body.

    Attributes:
        run: takes the position of the round along axis 0 of a sequence.
        lines: the same as instructions; the counter has the position.
    """

    run: Callable[[int], object]
    lines: Callable[[Backend, Counter], Sequence[Line]]


class CopyRun(partial):  # type: ignore[type-arg]  # of setitem; a call of it executes no Python
    """A copy from one place to another."""

    moved: tuple[Bytes, Bytes, TensorType]  # source, target

    @classmethod
    def of(cls, source: Bytes, target: Bytes, kind: TensorType, arrays: Sequence[Any]) -> CopyRun:
        """The copy between these places, where these arrays are."""
        copy = cls(setitem, arrays[1], ..., arrays[0])
        copy.moved = source, target, kind
        return copy

    def lines(self, backend: Backend) -> Sequence[Line]:
        """The copy as a list of one instruction."""
        source, target, kind = self.moved
        return (Move(_at(backend, target, kind), _at(backend, source, kind), kind.size_bytes),)


def lines_of(runs: Iterable[Run], backend: Backend) -> Lines:
    """The instructions of all these runs, each of which has `lines`; `None` where one has none."""
    lines: list[Line] = []
    for run in runs:
        own = run.lines(backend)  # type: ignore[attr-defined]  # CopyRun, BoundBody
        if own is None:
            return None
        lines += own
    return lines


def lines_of_step(step: Step, backend: Backend) -> Lines:
    """The instructions of a step: its run, if that is the backend's, or the parts of the run."""
    own = getattr(step.run, "lines", None)
    if own is not None:
        lines: Lines = own(backend)
        return lines
    alone = has_effect(step.node.op) or isinstance(step.run, Changing)
    return None if alone or step.backend != backend.name else (step.run,)


def noted(lines: Sequence[Line], note: Callable[[], str]) -> Sequence[Line]:
    """The lines; an error that one of them raises gets a note of where they stand."""
    return [
        Host(partial(_noted, line.call, note)) if isinstance(line, Host) else line for line in lines
    ]


def row_copy(
    sequence: Bytes, slot: Bytes, row: TensorType, out: bool, arrays: Sequence[Any]
) -> AtRound:
    """A copy of a row of this type to a slot, or `out` of it; `arrays`: the slot, the rows."""

    def lines(backend: Backend, at: Counter) -> Sequence[Line]:
        a, b, size = _at(backend, sequence, row), _at(backend, slot, row), row.size_bytes
        moves = (at, size)
        return (Move(a, b, size, target_at=moves) if out else Move(b, a, size, None, moves),)

    return AtRound(partial(_put if out else _take, *arrays), lines)


def _at(backend: Backend, place: Bytes, kind: TensorType) -> Any:
    return backend.view(place.memory, place.offset, kind)


def _noted(call: Run, note: Callable[[], str]) -> None:
    try:
        call()
    except BaseException as error:
        add_note(error, note())
        raise


def _take(slot: Any, sequence: Any, i: int) -> None:
    slot[...] = sequence[i]


def _put(slot: Any, sequence: Any, i: int) -> None:
    sequence[i] = slot

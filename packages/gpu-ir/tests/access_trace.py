"""The faults of a GPU function, from all accesses of one interpreted run: the oracle of the checker.

What is a fault is said here once more, from its definition, without a thought for memory or time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from random import Random
from typing import Any

import numpy as np
import pytest

from byparts_tensor_ir.interpret import OutOfBounds, interpret
from byparts_tensor_ir.meeting import Arrivals, Race, run_block
from byparts_tensor_ir.statement import Barrier, Buffer, Func

_MODULE = sys.modules["byparts_tensor_ir.interpret"]


class Trace:
    """Accesses so far: of an element (block, thread, epoch, whether it writes), in order.

    Attributes:
        block: that runs, by its number in the order of running.
        thread: that runs.
        epochs: how many barriers each thread of the block has passed.
    """

    def __init__(self) -> None:
        self.block, self.thread = -1, 0
        self.epochs: list[int] = []
        self.accesses: dict[tuple[object, ...], list[tuple[int, int, int, bool]]] = {}

    def note(self, element: tuple[object, ...], writes: bool) -> None:
        me = (self.block, self.thread, self.epochs[self.thread], writes)
        self.accesses.setdefault(element, []).append(me)

    def threads(self, threads: Sequence[Arrivals], name: str, random: Random) -> Arrivals:
        self.block += 1
        self.epochs = [0] * len(threads)
        yield from run_block([self._traced(i, t) for i, t in enumerate(threads)], name, random)

    def _traced(self, number: int, thread: Arrivals) -> Arrivals:
        sent = None
        while True:
            self.thread = number
            try:
                arrival = thread.send(sent)
            except StopIteration:
                return
            sent = yield arrival
            self.epochs[number] += isinstance(arrival[0], Barrier)

    def fault(self) -> str:
        """race, unwritten, or nothing."""
        for element, found in self.accesses.items():
            if element[0] == "shared" and not found[0][3]:
                return f"unwritten {element}"
            for i, (block, thread, epoch, writes) in enumerate(found):
                for other_block, other, other_epoch, also_writes in found[:i]:
                    ordered = block == other_block and (thread == other or epoch != other_epoch)
                    if (writes or also_writes) and not ordered:
                        return f"race {element}"
        return ""


class Traced(np.ndarray):
    """An array that notes its accesses."""

    log: Trace
    key: tuple[object, ...]

    def __getitem__(self, index: Any) -> Any:
        self.log.note((*self.key, index), False)
        return super().__getitem__(index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self.log.note((*self.key, index), True)
        super().__setitem__(index, value)


def _traced(array: np.ndarray[Any, Any], trace: Trace, *key: object) -> Traced:
    out = array.view(Traced)
    out.log, out.key = trace, key
    return out


@contextmanager
def _tracing(trace: Trace) -> Iterator[None]:
    garbage = _MODULE._Run.garbage

    def own(run: Any, buffer: Buffer) -> Any:
        array = garbage(run, buffer)
        if buffer.scope != "shared":
            return array
        return _traced(array, trace, "shared", buffer.name, trace.block + 1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_MODULE, "run_block", trace.threads)
        patch.setattr(_MODULE._Run, "garbage", own)
        yield


def fault_of(func: Func, *arrays: np.ndarray[Any, Any], seed: int = 0) -> str:
    """Run the function; what is wrong with it, or nothing."""
    trace = Trace()
    given = [_traced(a, trace, "global", p.name) for p, a in zip(func.params, arrays, strict=True)]
    try:
        with _tracing(trace):
            interpret(func, *given, seed=seed)
    except (OutOfBounds, Race) as error:
        return str(error)
    return trace.fault()

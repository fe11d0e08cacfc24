"""Random programs of pushes, failures, deletions and waits, run by an engine and one by one.

`python packages/engine/tests/random_tasks.py 10000` runs many.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from random import Random
from threading import Event
from typing import Optional

from byparts_engine import Engine, Variable

WORKERS: list[int | dict[str, int]] = [1, 2, 4, 8, {"cpu": 1, "copy": 2}]

SECONDS = 60  # how long a thread waits for another before a test fails


def steps(*functions: Callable[[], object]) -> Callable[[], None]:
    """A function that calls these in order."""

    def run() -> None:
        for function in functions:
            function()

    return run


def wait_for(event: Event) -> Callable[[], None]:
    """A function that fails where the event does not come."""

    def run() -> None:
        assert event.wait(SECONDS), "the other thread has not come so far"

    return run


class Failure(Exception):
    """Raised by a pushed function."""


class OneByOne:
    """The meaning: each function runs when it is pushed.  The place of a deleted variable is None."""

    def __init__(self, count: int) -> None:
        self.values: list[Optional[float]] = [i + 1.0 for i in range(count)]
        self.errors: dict[int, Failure] = {}  # by variable
        self.untold: list[Failure] = []

    def push(self, reads: list[int], writes: list[int], number: float, fails: bool) -> Failure:
        own = Failure(number)
        carried = [self.errors[i] for i in [*reads, *writes] if i in self.errors]
        if carried or fails:
            error = carried[0] if carried else own
            self.errors |= dict.fromkeys(writes, error)
            self.untold += [error] if not any(e is error for e in self.untold) else []
        else:
            compute(self.values, reads, writes, number)
        return own

    def told(self, error: Failure, variables: list[int]) -> None:
        self.untold = [e for e in self.untold if e is not error]
        self.errors = {i: e for i, e in self.errors.items() if not (i in variables and e is error)}


def compute(
    values: list[Optional[float]], reads: list[int], writes: list[int], number: float
) -> None:
    """Write what depends on all that is read and on the order of the writes."""
    total = sum(values[i] or 0.0 for i in reads) + number
    for i in writes:
        values[i] = (values[i] or 0.0) * 0.5 + total


def check(seed: int) -> None:
    """Run one program in both ways.

    Raises:
        AssertionError: another value or another error.
    """
    random = Random(seed)
    count = random.randint(1, 6)
    here = OneByOne(count)
    there: list[Optional[float]] = list(here.values)
    with Engine(random.choice(WORKERS)) as engine:
        variables = [engine.new_variable(str(i)) for i in range(count)]
        for _ in range(40):
            alive = [i for i in range(count) if here.values[i] is not None]
            kind = random.random()
            if kind < 0.06 and alive:
                wait_for_one(engine, variables, random.choice(alive), here, there)
            elif kind < 0.08 and len(alive) > 1:
                i = random.choice(alive)
                here.values[i] = None
                engine.delete(variables[i], lambda i=i: there.__setitem__(i, None))  # type: ignore[misc]
            elif kind < 0.1:
                wait_for_all(engine, here, there)
            else:
                push(engine, variables, alive, random, here, there)
        while here.untold:
            wait_for_all(engine, here, there)
        wait_for_all(engine, here, there)


def push(
    engine: Engine,
    variables: list[Variable],
    alive: list[int],
    random: Random,
    here: OneByOne,
    there: list[Optional[float]],
) -> None:
    reads = random.sample(alive, random.randint(0, min(3, len(alive))))
    writes = random.sample(alive, random.randint(0, min(2, len(alive))))
    reads = [i for i in reads if i not in writes]
    number, fails = random.random(), random.random() < 0.03
    error = here.push(reads, writes, number, fails)

    def function() -> None:
        if fails:
            raise error
        compute(there, reads, writes, number)

    lane = random.choice(["", *[k for k in engine._workers.lanes if k]])
    vars_read, vars_written = ([variables[i] for i in part] for part in (reads, writes))
    engine.push(function, vars_read, vars_written, random.randint(0, 3), lane)


def wait_for_one(
    engine: Engine, variables: list[Variable], i: int, here: OneByOne, there: list[Optional[float]]
) -> None:
    expected = here.errors.get(i)
    raised = failure(lambda: engine.wait_for(variables[i]))
    assert raised is expected, f"{raised!r} was raised, not {expected!r}"
    if raised is not None:
        here.told(raised, [i])
    else:
        assert there[i] == here.values[i]


def wait_for_all(engine: Engine, here: OneByOne, there: list[Optional[float]]) -> None:
    raised = failure(engine.wait_all)
    assert raised is None if not here.untold else any(raised is e for e in here.untold)
    if raised is not None:
        here.told(raised, list(range(len(here.values))))
    assert there == here.values


def failure(wait: Callable[[], object]) -> Optional[Failure]:
    try:
        wait()
    except Failure as error:
        return error
    return None


if __name__ == "__main__":
    for seed in range(int(sys.argv[1])):
        check(seed)
        if seed % 500 == 499:
            print(seed + 1, "programs equal to one by one", flush=True)

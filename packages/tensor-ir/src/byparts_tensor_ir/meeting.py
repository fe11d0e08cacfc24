"""The threads of a GPU block as coroutines: they run alone, and meet at barriers and collectives.

A thread that waits yields (the statement, what it brings) and is sent what it gets.  The whole
block meets at a barrier; the 32 threads of a warp meet at a collective.  In between threads run in
a random order.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from random import Random
from typing import Any, Union

from byparts_graph_ir import GraphError
from byparts_tensor_ir.statement import (
    WARP,
    Barrier,
    Collective,
    Exchange,
    Shuffle,
    statement_lines,
)

# What a thread waits at, and what it brings there; what it is sent.
Arrival = tuple[Union[Barrier, Collective], Any]
Arrivals = Generator[Arrival, Any, None]


class Race(GraphError):
    """Threads that do not meet as they must.

    A barrier that not all threads of a block reach, a collective that not all of a warp reach, or
    one that they would do at different places.
    """


def run_block(threads: Sequence[Arrivals], name: str, random: Random) -> Arrivals:
    """Run the threads of a block to their ends.

    Args:
        threads: one coroutine for each, in the order of their numbers.
        name: of their loop, for messages.
        random: chooses who runs next.

    Yields:
        Each barrier, when all are there.

    Raises:
        Race: threads wait for others that never come, or at different statements.
    """
    waiting: dict[int, Arrival] = {}
    ready: dict[int, Any] = dict.fromkeys(range(len(threads)))
    alive = len(threads)
    while alive:
        order = list(ready)
        random.shuffle(order)
        for t in order:
            try:
                waiting[t] = threads[t].send(ready[t])
            except StopIteration:
                alive -= 1
        ready = _whole_warps(waiting, len(threads))
        if not ready and waiting:
            yield _barrier(waiting, len(threads), name), None
            ready = dict.fromkeys(waiting)
        for t in ready:
            del waiting[t]


def _whole_warps(waiting: dict[int, Arrival], size: int) -> dict[int, Any]:
    """Results of a collective, for each thread whose whole warp waits at the same collective."""
    results: dict[int, Any] = {}
    for first in range(0, size - size % WARP, WARP):
        lanes = [waiting[t] for t in range(first, first + WARP) if t in waiting]
        together = len(lanes) == WARP and len({s for s, _ in lanes}) == 1
        if together and isinstance(lanes[0][0], Collective):
            results |= zip(range(first, first + WARP), _met(lanes), strict=True)
    return results


def _met(lanes: Sequence[Arrival]) -> list[Any]:
    """Perform a collective for a warp and return the result of each lane.

    To a shuffle or an exchange each brings its value; to any other collective where it is done, and
    a function that does it for all of them.
    """
    s, first = lanes[0]
    if isinstance(s, Shuffle):
        return [lanes[i + s.delta if i + s.delta < WARP else i][1] for i in range(WARP)]
    if isinstance(s, Exchange):
        return [lanes[i ^ s.mask][1] for i in range(WARP)]
    where, do = first
    if any(there != where for _, (there, _) in lanes):
        raise Race(f"{_shown(s)}: the threads of a warp are not at one place")
    do()
    return [None] * WARP


def _barrier(waiting: dict[int, Arrival], size: int, name: str) -> Barrier:
    """The barrier at which all threads wait."""
    places = list(dict.fromkeys(s for s, _ in waiting.values()))
    counts = [sum(s is place for s, _ in waiting.values()) for place in places]
    texts = [
        f"{n} of {size} threads of {name} reach {_shown(place)}"
        for n, place in zip(counts, places, strict=True)
    ]
    (place, *others) = places
    if others or counts[0] < size or not isinstance(place, Barrier):
        rule = "all must, or none" if isinstance(place, Barrier) else "whole warps must"
        raise Race(f"{' and '.join(texts)}; {rule}")
    return place


def _shown(s: Barrier | Collective) -> str:
    return "a barrier" if isinstance(s, Barrier) else statement_lines([s])[0]

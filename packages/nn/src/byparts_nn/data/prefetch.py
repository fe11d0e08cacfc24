"""Makes batches in advance, in threads or in processes, and gives them in order.

An error in a worker is raised where its batch would come, with the worker's traceback.  When the
loop ends, by its end, `break`, an error or Ctrl-C, all workers end: a thread when it has made its
batch, a process at once.  Each process watches a pipe whose other end is here, so it ends also when
this process is killed.
"""

from __future__ import annotations

import os
import pickle
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any, Generic, TypeVar

from byparts_engine import Engine, Variable
from byparts_graph_ir import GraphError

T = TypeVar("T")

_function: Any = None  # of this worker process


def in_threads(
    function: Callable[..., T], calls: Iterable[tuple[Any, ...]], ahead: int, threads: int
) -> Generator[T, None, None]:
    """`function(*call)` for each call, in order, `ahead` of them begun in advance.

    The next call is read by a thread too, one at a time, when nothing that was read waits.
    """
    source = iter(calls)
    with Engine({"data": threads}) as engine:
        reader = engine.new_variable("calls")

        def begin() -> _Batch[T]:
            batch = _Batch[T](engine.new_variable("batch"))
            engine.push(lambda: batch.read(source), writes=(reader, batch.variable))
            engine.push(lambda: batch.make(function), writes=(batch.variable,), priority=1)
            return batch

        begun = deque([begin() for _ in range(max(ahead, threads))])
        while True:
            batch = begun.popleft()
            engine.wait_for(batch.variable)
            if not batch.results:
                return
            begun.append(begin())
            yield batch.results.pop()


class _Batch(Generic[T]):
    """A call, and then its result; neither after the end."""

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.results: list[T] = []

    def read(self, source: Iterator[tuple[Any, ...]]) -> None:
        self.call = next(source, None)

    def make(self, function: Callable[..., T]) -> None:
        if self.call is not None:
            self.results.append(function(*self.call))


def in_processes(
    function: Callable[..., T], calls: Iterable[tuple[Any, ...]], ahead: int, processes: int
) -> Generator[T, None, None]:
    """`function(*call)` for each call, in order, by processes that are spawned.

    Raises:
        GraphError: the function cannot be sent to a process, or a process died.
    """
    try:
        packed = pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        how = "define the function at the top of a module, or prefetch in threads"
        raise GraphError(f"prefetch(processes={processes}): {error}; {how}") from error
    try:
        with _processes(packed, processes) as executor:
            begun = (executor.submit(_run, call) for call in calls)
            yield from _in_order(begun, max(ahead, processes))
    except BrokenProcessPool as error:
        why = "it was killed, ran out of memory, or the program has no"
        guard = "`if __name__ == '__main__':` around its start"
        what = "prefetch(processes=...): a worker process ended before its batch was made"
        raise GraphError(f"{what}: {why} {guard}") from error


def _in_order(begun: Iterator[Future[T]], ahead: int) -> Iterator[T]:
    futures = deque(islice(begun, ahead))
    while futures:
        result = futures.popleft().result()
        futures.extend(islice(begun, 1))
        yield result


@contextmanager
def _processes(packed: bytes, count: int) -> Iterator[Executor]:
    context = get_context("spawn")  # a fork would copy locks that other threads hold
    here, there = context.Pipe()
    executor = ProcessPoolExecutor(count, context, _started, (packed, there))
    try:
        yield executor
    finally:
        here.close()
        executor.shutdown(wait=True, cancel_futures=True)
        there.close()


def _started(packed: bytes, watched: Connection) -> None:
    """Prepare a worker process: Ctrl-C is for the parent, whose end is this one's, too."""
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_when_closed, args=(watched,), daemon=True).start()
    _function = pickle.loads(packed)


def _end_when_closed(watched: Connection) -> None:
    with suppress(OSError, EOFError):
        watched.recv_bytes()
    os._exit(1)


def _run(call: tuple[Any, ...]) -> Any:
    return _function(*call)

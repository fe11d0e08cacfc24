"""Work done in forked children, for tests: what hangs there is killed, and told."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import pytest

LIMIT_S = 60  # a safety net, for a child that waits for ever

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
# for pools, which fork by themselves
forks_with_threads = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


def forked(work: Callable[[], Any], count: int = 1) -> list[Any]:
    """What `work()` gives or raises in each of `count` children, or "hangs", or "died"."""
    fork, started = get_context("fork"), []
    for _ in range(count):
        here, there = fork.Pipe(duplex=False)
        child = fork.Process(target=_answer, args=(work, there))
        with warnings.catch_warnings():  # Python 3.12 warns where there are threads
            warnings.simplefilter("ignore", DeprecationWarning)
            child.start()
        there.close()
        started.append((child, here))
    answers: list[Any] = []
    for child, here in started:
        answers.append(_received(here, 1 if "hangs" in map(str, answers) else LIMIT_S))
        child.kill()
        child.join()
    return answers


def _answer(work: Callable[[], Any], there: Connection) -> None:
    try:
        there.send(work())
    except Exception as error:  # for the parent to see
        there.send(error)


def _received(here: Connection, limit_s: float) -> Any:
    if not here.poll(limit_s):
        return "hangs"
    try:
        return here.recv()
    except EOFError:
        return "died"

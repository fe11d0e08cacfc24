"""Bugs planted in the emulator and in the checker: each is noticed, so a real one would be."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from emitters import c_emitter
from gpu_kernels import bound, buffer, local, put
from test_thread_programs import disagreements
from thread_programs import BLOCKS, THREADS, programs

from byparts_gpu_ir.emit.shadow import CHECKS
from byparts_gpu_ir.fission import Lifetimes
from byparts_tensor_ir.expression import variable
from byparts_tensor_ir.functions import select
from byparts_tensor_ir.statement import Barrier, Buffer, For, Func, If, Shuffle, Statement

_FLAG = re.compile(r"if \(!on\d+\[thread1\]\) continue;")
_LANE = re.compile(r"thread1 % 32 (\+ \d+) < 32")
_OTHER = re.compile(r"thread1 \^ \d+\]")
_IN_CODE: dict[str, Callable[[str], str]] = {
    "threads that do not take part run": lambda c: _FLAG.sub("", c),
    "a shuffle goes past its warp": lambda c: _LANE.sub(r"thread1 \1 < 64", c),
    "an exchange gives back what it got": lambda c: _OTHER.sub("thread1]", c),
    "a barrier orders nothing": lambda c: c.replace("++checker.epoch;", ""),
}
_LOST = "a local buffer is lost from round to round"
_IN_CHECKS: dict[str, tuple[str, str]] = {
    "one reader is kept": ("cell->other = me;", ";"),
    "what earlier blocks read is forgotten": ("cell->old_reader = cell->reader;", ";"),
    "blocks are one block": ("c->start = ++c->epoch,", "c->start = c->epoch += !block,"),
    "blocks do not race": ("r->scope == GLOBAL :", "0 :"),
    "a write races with no read": ("i < 3; ++i)", "i < 0; ++i)"),
    "shared memory lasts": ("cell->writer.epoch < c->start)", "!cell->writer.epoch)"),
    "dimensions are not told apart": (
        "(uint64_t)index[d] >= (uint64_t)r->shape[d]",
        "flat * r->shape[d] + index[d] >= r->elements",
    ),
    "who is missing is not seen": ("if (on[t] == on[first]) continue;", "continue;"),
}


def _func(name: str, *body: Statement) -> Func:
    return Func(name, (X, Y), (Y,), (), bound(body, bx=BLOCK, tx=T), (S, V))


X, Y = (buffer(name, BLOCKS, 4 * THREADS) for name in "xy")
S, V = buffer("s", 2, scope="shared"), local("v")
BLOCK, T, K = variable("i", BLOCKS), variable("t", THREADS), variable("k", 3)
# What random programs seldom do.
DIRECTED = (
    # All threads read, and the one that read last writes: nobody else is remembered if only it is.
    _func(
        "last_reader",
        If(T < 1, (put(S, (0,), X[BLOCK, 0]),)),
        Barrier(),
        put(Y, (BLOCK, T), S[0]),
        If(T.equal(THREADS - 1), (put(S, (0,), 2.0),)),
    ),
    # Each block reads an element, and one thread of the last block then writes it.
    _func(
        "early_reader",
        If(T.equal(3), (put(Y, (BLOCK, 64), Y[0, 0]),)),
        If(BLOCK.equal(BLOCKS - 1) & T.equal(3), (put(Y, (0, 0), 2.0),)),
    ),
    # Only the first block writes what all blocks read.
    _func(
        "first_block",
        If(BLOCK < 1, (If(T < 1, (put(S, (0,), 2.0),)),)),
        Barrier(),
        put(Y, (BLOCK, T), S[0]),
    ),
    # All threads read, and in the next stretch the one that read first writes.
    _func(
        "first_reader",
        If(T < 1, (put(S, (0,), X[BLOCK, 0]),)),
        Barrier(),
        put(V, (), S[0]),
        Shuffle(V, V[()], 1),
        put(Y, (BLOCK, T), V[()]),
        If(T < 1, (put(S, (0,), 2.0),)),
    ),
    # An index past its dimension, and within the buffer.
    _func("next_row", If(BLOCK < 1, (put(Y, (BLOCK, T + 4 * THREADS), 1.0),))),
    _func("half_a_warp", put(V, (), 1.0), If(T < 16, (Shuffle(V, V[()], 1),))),
    _func(
        "round_to_round",
        For(
            K,
            (
                put(V, (), select(K < 1, X[BLOCK, T], V[()] + 1.0)),
                put(Y, (BLOCK, T), V[()]),
                Barrier(),
            ),
        ),
    ),
    _func("half_a_block", If(T < 32, (Barrier(),)), put(Y, (BLOCK, T), 1.0)),
)
RANDOM = (9, 13, 20)  # seeds of programs that show many of the bugs


@c_emitter
@pytest.mark.parametrize("name", [*_IN_CODE, *_IN_CHECKS, _LOST])
def test_a_planted_bug_is_noticed(name: str) -> None:
    funcs = programs(RANDOM) if name in _IN_CODE else DIRECTED
    assert noticed(name, funcs) != []


@c_emitter
def test_without_a_bug_nothing_is_noticed() -> None:
    assert noticed("", [*DIRECTED, *programs(RANDOM)]) == []


def _use_once(self: Lifetimes, buffers: set[Buffer], stretch: Statement, again: bool) -> None:
    """A buffer that is used in one stretch lives in it, though the loop around comes back."""
    for b in buffers:
        if self._users.setdefault(b, stretch) is not stretch:
            self.kept.add(b)


def noticed(name: str, funcs: Sequence[Func]) -> list[str]:
    """What the tests say if this bug is planted."""
    with pytest.MonkeyPatch.context() as patch:
        if name in _IN_CODE:
            return disagreements(funcs, _IN_CODE[name])
        if name == _LOST:
            patch.setattr(Lifetimes, "_use", _use_once)
            return disagreements(funcs)
        before, after = _IN_CHECKS.get(name, ("", ""))
        assert before in CHECKS
        patch.setattr("byparts_gpu_ir.emit.emulated.CHECKS", CHECKS.replace(before, after))
        return disagreements(funcs)

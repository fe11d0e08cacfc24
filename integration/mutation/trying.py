"""Programs that try mutants: run in forked children of a process that has compiled their code.

A child changes something, runs the programs of a batch, and says whether the results are right, and
whether anything at all differs from what a child without a mutant makes: the graph, the plan, the
code, the bits of the results.
"""

from __future__ import annotations

import faulthandler
import hashlib
import os
import pickle
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from typing import Any, Protocol

import numpy as np

from byparts_conformance.programs import Expected, Program, expected, generate
from byparts_conformance.programs.growing import drawn
from byparts_conformance.programs.guarded import Guards
from byparts_conformance.programs.program import parts_of, side_by_side
from byparts_conformance.programs.refused import shuffled
from byparts_conformance.programs.trial import difference, run
from byparts_conformance.programs.ways import PLAIN, Way, renewed, shared_loops, way_of
from byparts_graph_ir import GraphError
from byparts_graph_ir.parts.hub import parts
from byparts_kernels_native import code

# A mutant that takes longer with a batch hangs, and is told by that: seconds of a processor, of
# waiting, which are many where others compute on this machine.
_MOST_CPU_S, _MOST_S = 25, 400
_MOST_BYTES = 8 << 30
DRAWS = 6  # of other arrays, for programs that did not tell
MORE_DRAWS = 24  # where results differ, but within rounding
Wants = Sequence[Sequence[Expected]]


@dataclass(frozen=True)
class Tried:
    """What a run of a batch gave.

    Attributes:
        wrong: what tells it from right; "" if nothing does.
        bits: a digest of the results.
        made: a digest of the graph, the plan and the code.
    """

    wrong: str
    bits: str = ""
    made: str = ""


class Tries(Protocol):
    """Programs that are tried together; what they give without a mutant is noted."""

    right: dict[bool, Tried]

    def tried(self) -> Tried:
        """Build and run them, here and now."""


@dataclass
class Batch:
    """Programs that are built together, in one way.

    Attributes:
        programs: as they were generated, and `wants`, what they mean.
        way: how they are built.
        options: of `build`.
        right: what they give without a mutant; by whether code is made again.
        draws: the same programs with other arrays, where something was not told.
        drawn: how many draws of other arrays were made; some have no meaning.
        guarded: whether nobody may touch what lies around a value; else the process dies.
        threads: whether short loops are shared among threads too.
    """

    programs: Sequence[Program]
    wants: Wants
    way: Way
    options: dict[str, Any]
    right: dict[bool, Tried] = field(default_factory=dict)
    draws: list[Batch] = field(default_factory=list)
    drawn: int = 0
    guarded: bool = False
    threads: bool = False

    def tried(self) -> Tried:
        """Build and run them, here and now."""
        twins = [self.way.twin(p) for p in self.programs]
        seen: list[Any] = []
        with _Names() as names, shared_loops() if self.threads else nullcontext():
            try:
                runs = run(side_by_side(twins), seen=seen.append, **self._options())
            except BaseException as error:
                return Tried(f"{type(error).__name__}: {str(error)[:100]}")
        for i, some in enumerate(self.wants):
            parted = [parts_of(outputs, twins)[i] for outputs in runs]
            if said := difference(parted, some):
                return Tried(f"program {i}: {said}")
        bits = hashlib.sha256(b"".join([y.tobytes() for ys in runs for y in ys])).hexdigest()
        return Tried("", bits, _made(seen[0], names))

    def _options(self) -> dict[str, Any]:
        options = {**self.options, **(Guards().options() if self.guarded else {})}
        if self.threads:
            options["backends"] = tuple([renewed(b) for b in options["backends"]])
        return options


class _Names:
    """Notes the functions that are asked for while it is entered."""

    def __enter__(self) -> set[str]:
        self.names: set[str] = set()
        self.later = code.later

        def later(source: Any) -> str:
            name = self.later(source)
            self.names.add(name)
            return name

        code.later = later
        return self.names

    def __exit__(self, *_: object) -> None:
        code.later = self.later


def _made(built: Any, names: set[str]) -> str:
    at = [(x.root, x.offset) for x in built.plan.locations]
    starts = getattr(built.plan, "workspaces", ())
    told = repr((built.graph.digest, at, starts, sorted(names)))
    return hashlib.sha256(told.encode()).hexdigest()


def batches(
    backends: Sequence[str],
    count: int,
    size: int,
    seed: int,
    nodes: int,
    *,
    watched: bool = False,
    themes: Sequence[str] = ("",),
    ways: Callable[[int], Way] = way_of,
) -> list[Batch]:
    """Batches of programs of at most so many nodes: compiled, and right without a mutant.

    Their themes take turns; `ways` says of a number how the batch is built.
    Where they are `watched`, a quarter has pages around its values that nobody may touch, and
    another one runs on threads.
    """
    made = []
    for number in range(count):
        first = seed + number * size
        theme = themes[number % len(themes)]
        programs = [generate(s, nodes, theme) for s in range(first, first + size)]
        way = ways(number)
        batch = Batch(programs, _wants(programs), way, way.build_options(backends, first))
        if watched and way is PLAIN:
            batch.guarded, batch.threads = number % 4 == 0, number % 4 == 2
        found = in_child(batch.tried) if batch.guarded else batch.tried()
        wrong = found if isinstance(found, str) else found.wrong
        if wrong:
            print(f"not right without a mutant: seeds {first} on: {wrong}", file=sys.stderr)
            continue
        if batch.guarded:
            batch.tried()  # compiles its code, which children then find compiled
        made.append(batch)
    return made


def _wants(programs: Sequence[Program]) -> Wants:
    wants = [expected(p) for p in programs]
    for outputs in wants:
        _ = [want.near for want in outputs]  # bounds, which the child of each mutant then has
    return wants


def with_other_arrays(batch: Batch, number: int) -> Batch:
    """The same programs on other arrays; every second time without edges of a dtype."""
    programs = []
    for p in batch.programs:
        dice = Random(f"{p.seed} {number}")
        indices = shuffled(p, number)
        arrays = [
            indices.get(i, drawn(dice, v.type.dtype, v.type.dims, plain=number % 2 == 1))
            for i, v in enumerate(p.graph.inputs)
        ]
        programs.append(replace(p, arrays=tuple(arrays)))
    return replace(batch, programs=programs, wants=_wants(programs), right={}, draws=[], drawn=0)


def prepare(batch: Tries, recompiles: bool) -> None:
    """Find out what the batch gives in a child that changes nothing."""
    if recompiles not in batch.right:
        found = in_child(lambda: _anew(batch, recompiles))
        assert isinstance(found, Tried) and not found.wrong, f"not right: {found}"
        batch.right[recompiles] = found


def prepare_draws(batch: Batch, recompiles: bool, count: int = DRAWS) -> None:
    """Have so many draws of other arrays, those on which the programs are right as they are."""
    for number in range(batch.drawn, count):
        try:
            other = with_other_arrays(batch, number)
        except GraphError:  # an index that is computed from a feed is out of range then
            continue
        if not other.tried().wrong:  # a cast that has no meaning on some arrays is left out
            batch.draws.append(other)
    batch.drawn = max(batch.drawn, count)
    for other in batch.draws:
        if recompiles not in other.right:
            found = in_child(partial(_anew, other, recompiles))
            if isinstance(found, Tried) and not found.wrong:
                other.right[recompiles] = found


def _anew(batch: Tries, recompiles: bool) -> Tried:
    if recompiles:
        forget_kernels()
    return batch.tried()


def forget_kernels() -> None:
    """Have each kernel lowered and emitted again in this process; equal code is not compiled."""
    os.environ["BYPARTS_CACHE"] = tempfile.mkdtemp(dir=os.environ["BYPARTS_CACHE"])
    for name in ("native", "numpy"):
        parts.backend(name)._compiled.clear()


def in_child(job: Callable[[], Any]) -> Any:
    """The result of a function in a forked process; "hangs" or "dies" where there is none."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            _be_quiet()
            made = pickle.dumps(job())
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(made)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(child, 0)
    if data:
        return pickle.loads(data)
    slow = os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGALRM, signal.SIGXCPU)
    return "hangs" if slow else "dies"


def _be_quiet() -> None:
    """Bound time and memory of this process, and let it print nothing."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    more_time()
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.disable()
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    np.seterr(all="ignore")


def more_time() -> None:
    """Bound the time of what this child does next, as that of one batch."""
    signal.alarm(_MOST_S)
    limit = int(time.process_time()) + 1 + _MOST_CPU_S
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.getrlimit(resource.RLIMIT_CPU)[1]))

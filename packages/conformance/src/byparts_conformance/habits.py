"""What a backend must keep to beside right answers: the rows "also" under its table.

Each habit says what is wrong, or "".  They try every op that the backend has a kernel for, on one
case; what is wrong in many kernels is one line, about the first.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier

from byparts_conformance.cases import Case, cases_of
from byparts_conformance.compare import difference
from byparts_conformance.desk import Desk
from byparts_conformance.kernel import within
from byparts_conformance.trial import Trial
from byparts_graph_ir import Backend, MissingRule, Op, TensorType
from byparts_graph_ir.hub import parts

Ops = Iterable[type[Op]]
Habit = Callable[[Backend, Ops], str]

THREADS, TURNS = 4, 3
HEAVY = ("numpy", "torch", "jax", "tensorflow")  # a listing must import none of them


class Bench:
    """One case on memory of its own, bound before there is anything in it."""

    def __init__(self, backend: Backend, case: Case) -> None:
        """Raises MissingRule where the backend refuses it."""
        self.case, self.values = case, case.arrays()
        self.trial = Trial(Desk(backend), case.op, case.types)

    def run(self) -> None:
        """As a program runs it."""
        self.trial.run(self.values)

    def wrong(self) -> str:
        """How the outputs differ from the meaning of the op."""
        wants = self.case.op.evaluate(*self.values)
        for o, (want, t) in enumerate(zip(wants, self.case.outputs, strict=True)):
            if said := difference(self.trial.output(o), want, t):
                return f"{self.case}: output {o} {said}"
        return ""


def inputs_unchanged(backend: Backend, ops: Ops) -> str:
    """A kernel writes its outputs and its own blocks, and nothing else."""
    for bench in _benches(backend, ops):
        bench.run()
        if wrong := bench.trial.misuse(bench.values):
            return f"{bench.case}: {wrong}"
    return ""


def types_kept(backend: Backend, ops: Ops) -> str:
    """A functional rule gives the very dtype and shape: what is copied into place is not cast.

    A bound rule cannot do otherwise: its arrays have their types already.
    """
    for bench in _benches(backend, (op for op in ops if op not in backend.kernels)):
        given = backend.functions[bench.case.op](bench.case.op, *bench.trial.inputs)
        results = given if isinstance(given, tuple) else (given,)
        for i, (result, out) in enumerate(zip(results, bench.trial.outputs, strict=True)):
            if (result.dtype, tuple(result.shape)) != (out.dtype, tuple(out.shape)):
                got = f"{result.dtype}{list(result.shape)}"
                want = f"{out.dtype}{list(out.shape)}"
                return f"{bench.case}: result {i} is {got}, and must be {want}"
    return ""


def values_read_when_run(backend: Backend, ops: Ops) -> str:
    """A rule is called before there is anything in memory: only its run may look, each time."""
    for bench in _benches(backend, ops):
        bench.run()
        if wrong := bench.wrong():
            return f"{wrong}, where it was bound before its inputs were written"
    return ""


def unknown_op_refused(backend: Backend, ops: Ops) -> str:
    """What it lacks is a `MissingRule` that names the op and the backend."""
    x = TensorType("f32", (2,))
    try:
        backend.compile(OpThatNobodyHas(), [x])
    except MissingRule as error:
        lacking = [word for word in ("OpThatNobodyHas", backend.name) if word not in str(error)]
        return f"the error does not name {lacking[0]}: {error}" if lacking else ""
    return "an op that it cannot know was compiled"


def four_threads(backend: Backend, ops: Ops) -> str:
    """Programs of four threads, each on memory of its own, do not disturb each other."""
    tried, start = list(ops), Barrier(THREADS)

    def bind(_: int) -> list[Bench]:
        with within(backend):
            return list(_benches(backend, tried))

    def work(benches: list[Bench]) -> str:
        start.wait()  # a thread that is done before the next begins would show nothing
        with within(backend):
            for _ in range(TURNS):
                for bench in benches:
                    bench.run()
                if wrong := next(filter(None, (bench.wrong() for bench in benches)), ""):
                    return wrong
        return ""

    with ThreadPoolExecutor(THREADS) as pool:
        bound = list(pool.map(bind, range(THREADS)))
        return next(filter(None, list(pool.map(work, bound))), "")


def light_discovery(backend: Backend, ops: Ops) -> str:
    """Listing the part imports nothing that is heavy."""
    owners = [p for p, record in parts.records("backends") if record.name == backend.name]
    if not owners:
        return f"no installed part provides a backend called {backend.name!r}"
    listing = f"print(*[m for m in {HEAVY!r} if m in sys.modules])"
    program = f"import sys; from byparts_graph_ir.hub import parts; parts.all(); {listing}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "BYPARTS_ONLY": owners[0].distribution},
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = ", ".join(done.stdout.split())
    return f"its plugin imports {heavy}: do that inside make()" if heavy else ""


HABITS: Mapping[str, Habit] = {
    "inputs unchanged": inputs_unchanged,
    "dtype and shape kept": types_kept,
    "values read only when run": values_read_when_run,
    "unknown op refused by name": unknown_op_refused,
    "four threads": four_threads,
    "light discovery": light_discovery,
}


@dataclass(frozen=True)
class OpThatNobodyHas(Op):
    """Not in any table."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)


def _benches(backend: Backend, ops: Ops) -> Iterator[Bench]:
    """For each op that the backend has, the first case that it takes."""
    for op in ops:
        for case in cases_of(op):
            if not backend.supports(case.op):
                break
            try:
                bench = Bench(backend, case)
            except MissingRule:
                continue
            yield bench
            break

"""Rules that a backend must keep besides right results: the rows "also" under its table.

Each rule is a function that returns a sentence about the first kernel that breaks it, or "".  It
tries one case of each op that the backend has a kernel for.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from byparts_conformance.cases import Case, cases_of
from byparts_conformance.compare import difference
from byparts_conformance.kernel import within
from byparts_conformance.trial import Trial
from byparts_conformance.trial_memory import TrialMemory
from byparts_graph_ir import Backend, MissingRule, Op, TensorType
from byparts_graph_ir.parts.hub import parts

Ops = Iterable[type[Op]]
BackendRule = Callable[[Backend, Ops], str]

THREADS, ROUNDS = 4, 3
HEAVY = ("numpy", "torch", "jax", "tensorflow")  # `byparts parts` must import none of them


class Bench:
    """A case, bound on memory of its own before the inputs are written."""

    def __init__(self, backend: Backend, case: Case) -> None:
        """Raises MissingRule if the backend refuses the case."""
        self.case, self.values = case, case.arrays()
        self.trial = Trial(TrialMemory(backend), case.op, case.types)

    def run(self) -> None:
        """Write the inputs and run the kernel."""
        self.trial.run(self.values)

    def wrong(self) -> str:
        """A sentence about outputs that differ from `evaluate`, or ""."""
        wants = self.case.op.evaluate(*self.values)
        for o, (want, t) in enumerate(zip(wants, self.case.outputs, strict=True)):
            if said := difference(self.trial.output(o), want, t):
                return f"{self.case}: output {o} {said}"
        return ""


def inputs_unchanged(backend: Backend, ops: Ops) -> str:
    """A kernel writes only its outputs, its workspace and its persistent block."""
    for bench in _benches(backend, ops):
        bench.run()
        if wrong := bench.trial.misuse(bench.values):
            return f"{bench.case}: {wrong}"
    return ""


def types_kept(backend: Backend, ops: Ops) -> str:
    """A functional rule returns the dtype and shape of its output type: results are not cast.

    A bound rule writes to arrays of the right type, so the rule cannot break this.
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
    """A kernel rule must not read its inputs: only the function that it returns may read them."""
    for bench in _benches(backend, ops):
        bench.run()
        if wrong := bench.wrong():
            return f"{wrong}, where it was bound before its inputs were written"
    return ""


def unknown_op_refused(backend: Backend, ops: Ops) -> str:
    """Compiling an op without a kernel raises a `MissingRule` that names the op and the backend."""
    x = TensorType("f32", (2,))
    try:
        backend.compile(OpThatNobodyHas(), [x])
    except MissingRule as error:
        lacking = [word for word in ("OpThatNobodyHas", backend.name) if word not in str(error)]
        return f"the error does not name {lacking[0]}: {error}" if lacking else ""
    return "an op that it cannot know was compiled"


def four_threads(backend: Backend, ops: Ops) -> str:
    """Kernels that run in four threads at once, each on its own memory, give right results."""
    tried, start = list(ops), Barrier(THREADS)

    def bind(_: int) -> list[Bench]:
        with within(backend):
            return list(_benches(backend, tried))

    def work(benches: list[Bench]) -> str:
        start.wait()  # otherwise a thread might finish before the next one starts
        with within(backend):
            for _ in range(ROUNDS):
                for bench in benches:
                    bench.run()
                if wrong := next(filter(None, (bench.wrong() for bench in benches)), ""):
                    return wrong
        return ""

    with ThreadPoolExecutor(THREADS) as pool:
        bound = list(pool.map(bind, range(THREADS)))
        return next(filter(None, list(pool.map(work, bound))), "")


def light_discovery(backend: Backend, ops: Ops) -> str:
    """Listing the part (`byparts parts`) imports none of the libraries in `HEAVY`."""
    owners = [p for p, record in parts.records("backends") if record.name == backend.name]
    if not owners:
        return f"no installed part provides a backend called {backend.name!r}"
    listing = f"print(*[m for m in {HEAVY!r} if m in sys.modules])"
    program = f"import sys; from byparts_graph_ir.parts.hub import parts; parts.all(); {listing}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "BYPARTS_ONLY": owners[0].distribution},
        capture_output=True,
        text=True,
        check=True,
    )
    heavy = ", ".join(done.stdout.split())
    return f"its plugin imports {heavy}: do that inside make()" if heavy else ""


BACKEND_RULES: Mapping[str, BackendRule] = {
    "inputs unchanged": inputs_unchanged,
    "dtype and shape kept": types_kept,
    "values read only when run": values_read_when_run,
    "unknown op refused by name": unknown_op_refused,
    "four threads": four_threads,
    "light discovery": light_discovery,
}


class OpThatNobodyHas(Op):
    """An op that is in no table of kernels."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)


def _benches(backend: Backend, ops: Ops) -> Iterator[Bench]:
    """For each op that the backend supports, the first case that the backend does not refuse."""
    for op in ops:
        # Asked first: to make the cases of an op takes up to half a second.
        has = any(backend.supports(sample.op) for sample in op.samples())
        for case in cases_of(op) if has else ():
            try:
                bench = Bench(backend, case)
            except MissingRule:
                continue
            yield bench
            break

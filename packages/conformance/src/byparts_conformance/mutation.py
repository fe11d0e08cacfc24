"""Measures whether the kit finds wrong kernels: runs it on mutants of each op's kernel.

    python -m byparts_conformance.mutation [--op NAME]... [--markdown]

A mutant is killed if the kit finds it wrong in some case.  A mutant that no case kills is also run
on `WITNESSES` sets of other inputs.  If it differs from the op on one of these, it survived, and
the kit must be improved; otherwise it counts as equal to the op.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_conformance import kernel
from byparts_conformance.cases import Case, cases_of
from byparts_conformance.compare import difference
from byparts_conformance.gradient_mutants import gradient_outcomes
from byparts_conformance.memory_mutants import MEMORY_MUTANTS, Rule, compute
from byparts_conformance.mutants import Mutant, mutants_of
from byparts_conformance.reference import Reference
from byparts_conformance.values import edges, random_bits
from byparts_conformance.workspace_mutants import (
    COMPILED_MUTANTS,
    WORKSPACE_MUTANTS,
    CompiledRule,
    WorkspaceRule,
    right,
)
from byparts_graph_ir import Backend, Op, TensorType
from byparts_graph_ir.parts.hub import parts
from byparts_opset.dtypes import numpy_dtype, wide

Array = NDArray[Any]

KILLED, EQUAL, SURVIVED = "killed", "equal", "SURVIVED"
WITNESSES = 6  # sets of inputs for each case


def outcomes(op: type[Op]) -> dict[str, str]:
    """For each mutant of the op `KILLED`, `EQUAL` or `SURVIVED`.

    The output of `Print` is discarded: it would be thousands of arrays.
    """
    with redirect_stdout(StringIO()):
        return {**_of_numbers(op), **_of_memory(op), **gradient_outcomes(op)}


def _of_numbers(op: type[Op]) -> dict[str, str]:
    alive = {m.name: m for m in mutants_of(op)}
    outcome = dict.fromkeys(alive, EQUAL)
    cases = _quick_first(cases_of(op))
    for case in cases:
        arrays = case.arrays()
        reference = Reference(case, arrays)
        for mutant in list(alive.values()):
            if _wrong(mutant, reference, arrays):
                outcome[mutant.name] = KILLED
                del alive[mutant.name]
    for case in _some(cases) if alive else ():
        for kind, arrays in _witnesses(case):
            right = _right(case, arrays) if alive else None
            for mutant in list(alive.values()):
                if right is None:
                    break
                comparable = kind == "usual" or not mutant.by_rounding  # huge numbers cancel
                if comparable and _differs(mutant, case, arrays, right):
                    outcome[mutant.name] = SURVIVED
                    del alive[mutant.name]
    return outcome


def _some(cases: Iterable[Case]) -> list[Case]:
    """A case for each attribute, dtype and column."""
    chosen = {(c.op, c.column, tuple(t.dtype for t in c.types)): c for c in cases}
    return list(chosen.values())


def _quick_first(cases: Iterable[Case]) -> list[Case]:
    """Cases that kill most mutants, and cost little, first."""
    return sorted(cases, key=lambda c: (c.column == "edges", c.values == "combinations"))


def _wrong(mutant: Mutant, reference: Reference, arrays: Sequence[Array]) -> bool:
    with np.errstate(all="ignore"):
        try:
            results = mutant.results(reference.case, arrays, reference.wants)
        except Exception:  # a wrong kernel that raises is found
            return True
    return any(reference.wrong(i, np.asarray(y)) for i, y in enumerate(results))


def _right(case: Case, arrays: Sequence[Array]) -> Sequence[Array] | None:
    """The results of the op; `None` where it refuses these inputs."""
    with np.errstate(all="ignore"):
        try:
            return case.op.evaluate(*arrays)
        except Exception:
            return None


def _differs(mutant: Mutant, case: Case, arrays: Sequence[Array], right: Sequence[Array]) -> bool:
    with np.errstate(all="ignore"):
        try:
            results = mutant.results(case, arrays, right)
        except Exception:
            return True
    pairs = list(zip(map(np.asarray, results), right, case.outputs, strict=True))
    if mutant.by_rounding:  # inputs are off by one unit in the last place: only jumps count
        return any(y.shape != want.shape or _jumps(y, want) for y, want, _ in pairs)
    return any(difference(y, want, t, case.measure(arrays)) for y, want, t in pairs)


def _jumps(y: Array, want: Array) -> bool:
    return not np.allclose(wide(y), wide(want), rtol=1e-2, atol=1e-2, equal_nan=True)


def _witnesses(case: Case) -> Iterator[tuple[str, list[Array]]]:
    """Inputs of the case's types that the kit does not draw, each with its kind."""
    rng = np.random.default_rng(len(str(case)))
    for kind in ("usual", "bits", "edges") * (WITNESSES // 3):
        drawn = [_drawn(rng, t, kind) for t in case.types]
        with np.errstate(all="ignore"):
            yield kind, [np.asarray(a) for a in case.op.domain(*drawn)]


def _drawn(rng: np.random.Generator, t: TensorType, kind: str) -> Array:
    if kind == "bits":
        return random_bits(rng, t.dtype, t.size).reshape(t.dims)
    if kind == "edges":
        return rng.choice(edges(t.dtype), t.dims)
    return np.asarray(rng.normal(0, 3, t.dims)).astype(numpy_dtype(t.dtype))


def _of_memory(op: type[Op]) -> dict[str, str]:
    """Outcomes of the memory mutants.  One that is never wrong is equal: the op has no such use."""
    hosts = {
        **{name: _bound(op, rule) for name, rule in MEMORY_MUTANTS.items()},
        **{name: _bound(op, rule, True) for name, rule in WORKSPACE_MUTANTS.items()},
        **{name: _compiled(op, rule) for name, rule in COMPILED_MUTANTS.items()},
    }
    return {name: _outcome_in_memory(op, backend) for name, backend in hosts.items()}


def _outcome_in_memory(op: type[Op], backend: Backend) -> str:
    for column in ("basic", "broadcast", "integer", "0-d", "strided", "in place", "long", "edges"):
        some = _some(c for c in cases_of(op) if not any(t.dtype == "bf16" for t in c.types))
        for case, how in kernel.runs_of(some, column):
            try:
                kernel.check(backend, case, how)
            except Exception:
                return KILLED
    return EQUAL


def _bound(op: type[Op], rule: Rule | WorkspaceRule, workspace: bool = False) -> Backend:
    """A backend with this kernel alone, on NumPy arrays."""
    backend = Backend("mutant", _view)
    backend.kernels.on(op, workspace=workspace)(rule)
    return backend


def _compiled(op: type[Op], rule: CompiledRule) -> Backend:
    backend = Backend("mutant", _view)
    backend.kernels.compiles(op)(rule)
    return backend


def _view(memory: Any, offset: int, t: TensorType) -> Array:
    return np.frombuffer(memory, numpy_dtype(t.dtype), t.size, offset).reshape(t.dims)


def right_kernels(op: type[Op]) -> tuple[Backend, Backend]:
    """Backends whose kernel is `evaluate`, bound and compiled: the kit must accept both."""
    return _bound(op, lambda op, xs, ys: lambda: compute(op, xs, ys)), _compiled(op, right)


def table(rows: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Ops by kinds of mutants, in Markdown: `x` killed, `=` equal to the op, `!` survived.

    Mutants of all inputs share one column, those of all attributes another.  Such a cell shows the
    worst outcome; `x` is worse than `=`.
    """
    kinds = list(dict.fromkeys(_kind(name) for row in rows.values() for name in row))
    lines = ["| op | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    for op, row in rows.items():
        signs: dict[str, str] = {}
        for name, said in row.items():
            signs[_kind(name)] = max(signs.get(_kind(name), ""), SIGNS[said], key=" =x!".find)
        cells = (signs.get(kind, "") for kind in kinds)
        lines.append(f"| `{op}` | " + " | ".join(cells) + " |")
    return lines


SIGNS = {KILLED: "x", EQUAL: "=", SURVIVED: "!"}


def _kind(name: str) -> str:
    name = re.sub(r"^input \d+ ignored", "an input ignored", name)
    name = re.sub(r"^\w+ ignored", "an attribute ignored", name)
    return re.sub("of input .* missing", "one of an input missing", name)


def counted(rows: Mapping[str, Mapping[str, str]]) -> str:
    """A sentence with the totals."""
    counts = Counter(said for row in rows.values() for said in row.values())
    return (
        f"{len(rows)} ops, {sum(counts.values())} mutants: {counts[KILLED]} killed, "
        f"{counts[EQUAL]} equal to their op, {counts[SURVIVED]} survived"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the survivors, or the whole table; return 1 if there are survivors."""
    parser = argparse.ArgumentParser(prog="python -m byparts_conformance.mutation")
    parser.add_argument("--op", action="append", default=[], help="these ops only")
    parser.add_argument("--markdown", action="store_true", help="print the table")
    given = parser.parse_args(arguments)
    every = parts.ops()
    if unknown := [name for name in given.op if name not in every]:
        parser.error(f"no op {unknown[0]!r} is installed")
    rows = {}
    for name in given.op or every:
        print(f"\r{name:40}", end="", file=sys.stderr, flush=True)
        rows[name] = outcomes(every[name])
    print("\r", end="", file=sys.stderr)
    for name, row in rows.items():
        for mutant, said in row.items():
            if said == SURVIVED:
                print(f"{name}: {mutant} survived")
    print(*(table(rows) if given.markdown else ()), counted(rows), sep="\n")
    return int(any(said == SURVIVED for row in rows.values() for said in row.values()))


if __name__ == "__main__":
    raise SystemExit(main())

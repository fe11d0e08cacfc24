"""Kernels with one thing made wrong: each is reported, or gives wrong numbers, or is explained.

The table is `golden/mutants.txt`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from emitters import c_emitter
from gpu_kernels import KERNELS, Case, empty

from byparts_tensor_ir import compile
from byparts_tensor_ir.emit.emulate import emulate
from byparts_tensor_ir.emit.emulated import EmulatedSource, emulated_caller
from byparts_tensor_ir.expression import Expr, comparison
from byparts_tensor_ir.faults import KernelFault
from byparts_tensor_ir.statement import (
    Barrier,
    Func,
    If,
    Statement,
    Store,
    rebuilt,
    statement_lines,
    walk,
)
from byparts_tensor_ir.substitute import expressions, subexpressions, substituted

# Those that change nothing, and why.
HARMLESS = {
    "softmax: without barrier 6 of 6": "nobody touches `red` after it",
    "gelu: (part * 256 + t * 4) < 512 made <= in: if (part * 256 + t * 4) < 512:": "512 columns "
    "are whole blocks: no thread is at 512",
    "matmul: tx < 8 made <= in: if tx < 8:": "the column 8 of `left` keeps rows apart: nobody reads it",
}


def mutants(func: Func) -> Iterator[tuple[str, Func]]:
    """(what is wrong, the function) for each barrier, comparison and index into shared memory."""
    barriers = [s for s in walk(func.body) if isinstance(s, Barrier)]
    for k, barrier in enumerate(barriers):
        name = f"without barrier {k + 1} of {len(barriers)}"
        yield name, _changed(func, barrier, lambda s: ())
    for s in walk(func.body):
        for e in [e for x in expressions(s) for e in subexpressions(x) if e.op == "lt"]:
            if e.args[0].dtype == "i64":
                looser = {e: comparison("le", *e.args)}
                yield f"{e} made <= in: {_line(s)}", _changed(func, s, _with(looser))
        if isinstance(s, Store) and s.targets[0].scope == "shared" and s.index:
            index = (*s.index[:-1], s.index[-1] // 2)
            if index == s.index:
                continue
            wrong = replace(s, index=index)
            yield f"index halved: {_line(s)}", _changed(func, s, lambda s, w=wrong: (w,))  # type: ignore[misc]


def _line(s: Statement) -> str:
    return statement_lines([s])[0]


def _with(by: dict[Expr, Expr]) -> Callable[[Statement], Sequence[Statement]]:
    def change(s: Statement) -> Sequence[Statement]:
        if isinstance(s, If):
            return (replace(s, condition=substituted(s.condition, by)),)
        assert isinstance(s, Store)
        values = tuple([substituted(v, by) for v in s.values])
        return (replace(s, values=values),)

    return change


def _changed(func: Func, at: Statement, change: Callable[[Statement], Sequence[Statement]]) -> Func:
    return func.with_body(rebuilt(func.body, lambda s: change(s) if s is at else None))


def _outcome(source: EmulatedSource, address: int, func: Func, case: Case) -> str:
    """How a mutant shows: the fault that is reported, wrong numbers, or not at all."""
    _, inputs, expected = case
    outputs = empty(func)
    arrays: list[Any] = [*[x.copy() for x in inputs], *outputs]
    try:
        emulated_caller(source, address)([a.ctypes.data for a in arrays])
    except KernelFault as error:
        return type(error).__name__
    near = [np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(outputs, expected, strict=True)]
    return "not noticed" if all(near) else "wrong numbers"


@c_emitter
def test_what_is_made_wrong_is_noticed(golden: Any) -> None:
    cases = {name: make() for name, make in KERNELS.items()}
    wrong = [(f"{n}: {what}", n, f) for n, case in cases.items() for what, f in mutants(case[0])]
    sources = [emulate(f, "checked").renamed(f"mutant{k}") for k, (_, _, f) in enumerate(wrong)]
    addresses = compile.compiled(sources)
    table = {
        what: _outcome(source, addresses[source.name], func, cases[name])
        for source, (what, name, func) in zip(sources, wrong, strict=True)
    }
    lines = [f"{outcome:14} {what}" for what, outcome in table.items()]
    golden(Path(__file__).parent / "golden" / "mutants.txt", "\n".join(lines) + "\n")
    assert {what for what, outcome in table.items() if outcome == "not noticed"} == {*HARMLESS}

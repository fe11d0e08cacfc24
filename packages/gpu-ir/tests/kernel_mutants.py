"""Kernels with one thing made wrong: a barrier, a comparison, an index into shared memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from byparts_tensor_ir.expression import Expr, comparison
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


def mutants(func: Func) -> Iterator[tuple[str, Func]]:
    """(what is wrong, the function) for each barrier, comparison and index into shared memory."""
    barriers = [s for s in walk(func.body) if isinstance(s, Barrier)]
    for k, barrier in enumerate(barriers):
        name = f"without barrier {k + 1} of {len(barriers)}"
        yield name, _changed(func, barrier, lambda s: ())
    for s in walk(func.body):
        for e in [e for x in expressions(s) for e in subexpressions(x) if e.op == "lt"]:
            if e.args[0].dtype == "index":
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

"""The step that replaces loops by an intrinsic, and the check that they compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from byparts_tensor_ir.intrinsic import Intrinsic, Mismatch, intrinsic_loops, operand_boxes
from byparts_tensor_ir.lower import identity_nest
from byparts_tensor_ir.schedule.find import ScheduleError, loop_of, loops_around, shown
from byparts_tensor_ir.statement import For, Func, Statement, rebuilt, stores
from byparts_tensor_ir.substitute import variables


def tensorize(func: Func, loop: str, intrinsic: Intrinsic) -> Func:
    """The intrinsic runs a loop and those below it.

    Of a reduction, the store of its identity goes before the loop, or before the outermost loop
    around that belongs to the reduction: the intrinsic adds.

    Args:
        func: any function.
        loop: the outermost of the loops that compute what the intrinsic computes.
        intrinsic: from `intrinsic.intrinsic`.

    Raises:
        ScheduleError: they compute something else; shows both.
    """
    old = loop_of(func, loop)
    try:
        operand_boxes(old, intrinsic)
    except Mismatch as error:
        raise _refused(f"tensorize {loop}", old, intrinsic, error) from None
    (store,) = stores([old])
    around = [*loops_around(func, old), old]
    over = {v for e in store.over for v in variables(e)}
    first = next(x for x in around if x is old or x.var in over)
    begins = identity_nest(first, store) if store.begins else ()

    def rule(s: Statement) -> Sequence[Statement] | None:
        return [replace(s, begins=False)] if s is store else None

    def placed(s: Statement) -> Sequence[Statement] | None:
        if s is not first:
            return None
        return [*begins, *rebuilt([s], marked)]

    def marked(s: Statement) -> Sequence[Statement] | None:
        if s is not old:
            return None
        return [replace(old, body=rebuilt(old.body, rule), kind=intrinsic)]

    return func.with_body(rebuilt(func.body, placed))


def check_intrinsics(func: Func, step: str) -> None:
    """Refuse where the loops of an intrinsic no longer compute what it computes.

    Raises:
        ScheduleError: shows the loops and the intrinsic.
    """
    for loop in intrinsic_loops(func):
        assert isinstance(loop.kind, Intrinsic)
        try:
            operand_boxes(loop, loop.kind)
        except Mismatch as error:
            raise _refused(f"{step} after tensorize", loop, loop.kind, error) from None


def _refused(step: str, loop: For, wanted: Intrinsic, error: Mismatch) -> ScheduleError:
    return ScheduleError(
        f"{step}: the loops do not compute what {wanted} computes: {error}\n{shown(loop)}\n"
        f"{wanted}:\n{shown(*wanted.reference.body)}"
    )

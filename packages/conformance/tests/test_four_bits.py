"""The kit on i4: a few cases of each op, and a backend that does not take it is no failure."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from byparts_conformance import Mismatch, cases_of, kernel_check
from byparts_conformance.cases import Case
from byparts_conformance.kernel import ABSENT, OK, VIA, runs_of
from byparts_conformance.values import combinations, edges, random_bits
from byparts_graph_ir import Backend, Op, Refused, Table, TensorType
from byparts_kernels_numpy import make
from byparts_opset import OPS, Abs, Add, Cast, MatMul, Mul, SquaredDifference, Sub
from byparts_opset.dtypes import numpy_dtype

pytest.importorskip("ml_dtypes")


def cases(op: type[Op]) -> list[Case]:
    rare = [case for case, how in runs_of(cases_of(op), "rare") if how == "plain"]
    return [c for c in rare if "i4" in {t.dtype for t in (*c.types, *c.outputs)}]


def one(op: type[Op], rule: Any, **facts: Any) -> Backend:
    kernels: Table[Any] = Table("kernel")
    kernels.on(op)(rule)
    return Backend("one", make().view, kernels, **facts)


def test_each_op_has_a_few_cases() -> None:
    """The kit has some 40,000 others: run time stays what it was."""
    counts = [len(cases(op)) for op in OPS.values()]

    assert max(counts) <= 30 and sum(counts) <= 400
    assert len(cases(Add)) == 2 and not cases(OPS["exp"])


def test_dtypes_without_a_sign_have_cases_beside_those_of_four_bits() -> None:
    rare = [case for case, how in runs_of(cases_of(Add), "rare")]

    assert {t.dtype for case in rare for t in case.types} == {"i4", "u16", "u32", "u64"}


def test_values_are_all_there_are() -> None:
    """Sixteen of them, whatever a byte could hold."""
    rng, every = np.random.default_rng(0), list(range(-8, 8))

    assert sorted(edges("i4").tolist()) == every
    assert sorted(combinations(rng, ["i4"])[0].tolist()) == every
    assert sorted(set(random_bits(rng, "i4", 1000).tolist())) == every


@pytest.mark.parametrize("op", [Add, Abs, Cast, MatMul])
def test_a_backend_that_does_not_say_that_it_takes_i4_is_not_asked(op: type[Op]) -> None:
    """Nor is a view of i4 made, which another library may not have."""

    def view(memory: Any, offset: int, kind: TensorType) -> Any:
        if kind.dtype == "i4":
            raise Refused("no i4 here")
        return make().view(memory, offset, kind)

    kernels: Table[Any] = Table("kernel")
    kernels.on(op)(lambda op, inputs, outputs: pytest.fail("asked"))

    assert {kernel_check(Backend("other", view, kernels), c, "plain") for c in cases(op)} == {
        ABSENT
    }
    assert {kernel_check(Backend("none", view), c, "plain") for c in cases(op)} == {ABSENT}


def test_a_kernel_that_does_not_wrap_is_found() -> None:
    """7 + 1 is -8; a rule that saturates says 7."""

    def saturating(op: Op, inputs: Any, outputs: Any) -> Any:
        def run() -> None:
            wide = np.add(*(x.astype(np.int32) for x in inputs))
            outputs[0][...] = np.clip(wide, -8, 7).astype(numpy_dtype("i4"))

        return run

    def wrapping(op: Op, inputs: Any, outputs: Any) -> Any:
        return partial(np.add, *inputs, outputs[0], dtype=np.int8, casting="unsafe")

    takes = {"sub_byte": lambda op: True}
    assert {kernel_check(one(Add, wrapping, **takes), c, "plain") for c in cases(Add)} == {OK}
    (every,) = [c for c in cases(Add) if c.values == "combinations"]
    with pytest.raises(Mismatch, match=r"Add\(\)\(i4\[\d+.*differs at .*: (7|-8) instead of"):
        kernel_check(one(Add, saturating, **takes), every, "plain")


def test_an_op_is_made_of_others_in_i4_too() -> None:
    """Where the backend has those."""
    numpy, kernels = make(), Table("kernel")  # type: ignore[var-annotated]
    for op in (Sub, Mul):
        kernels.on(op)(numpy.kernels[op])
    some = Backend("some", numpy.view, kernels, sub_byte=lambda op: True)

    outcomes = {kernel_check(some, c, "plain") for c in cases(SquaredDifference)}
    assert outcomes == {VIA}

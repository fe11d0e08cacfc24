"""How the kit runs kernels, and what it says of those that misuse their planned memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from byparts_conformance import Mismatch, cases_of, kernel_check
from byparts_conformance.cases import Case
from byparts_conformance.trial import Trial
from byparts_conformance.trial_memory import TrialMemory
from byparts_conformance.workspace_mutants import COMPILED_MUTANTS, WORKSPACE_MUTANTS, right
from byparts_graph_ir import Backend, GraphError, Op, Sample, TensorType
from byparts_graph_ir.backend.kernel import Kernel
from byparts_kernels_numpy import make
from byparts_opset import Add, Neg


def compiled(rule: Any, op: type[Op] = Neg) -> Backend:
    """NumPy's arrays, and one op that is compiled by this rule."""
    made = Backend("other", make().view)
    made.kernels.compiles(op)(rule)
    return made


def basic(op: type[Op]) -> Case:
    return next(c for c in cases_of(op) if c.column == "basic")


@pytest.mark.parametrize("how", ["plain", "in place", "strided"])
def test_a_compiled_kernel_that_keeps_to_its_memory_is_right(how: str) -> None:
    """Strided arrays are for bound rules: a compiled one never meets them."""
    expected = "-" if how == "strided" else "ok"

    assert kernel_check(compiled(right), basic(Neg), how) == expected


@pytest.mark.parametrize(
    ("name", "how", "message"),
    [
        ("writes beyond its workspace", "plain", "workspace of 64 bytes was written behind its"),
        ("writes before its workspace", "plain", "workspace of 64 bytes was written before its"),
        ("asks for less than it uses", "plain", "behind its memory, 15 bytes away"),
        ("writes beyond its persistent memory", "plain", "persistent memory of .* was written"),
        ("expects zeros in its workspace", "plain", "output 0 differs"),
        ("expects what bind wrote", "plain", "output 0 differs"),
        ("keeps state in its workspace", "plain", "output 0 differs"),
        ("remembers results", "plain", "run again on other values: output 0 differs"),
        ("last binding wins", "plain", "run again on other values: output 0 differs"),
        ("says in place and reads late", "in place", "in place: output 0 differs"),
        ("says atomic and is Python", "in place", "a Ctrl-C can stop it half-way"),
        ("says atomic and raises", "in place", "`atomic`, and raised ValueError for some values"),
    ],
)
def test_misuse_of_memory_is_found_and_named(name: str, how: str, message: str) -> None:
    """One mutant of each kind."""
    with pytest.raises(Mismatch, match=message):
        kernel_check(compiled(COMPILED_MUTANTS[name]), basic(Neg), how)


def test_a_rule_that_asks_for_more_when_bound_is_found() -> None:
    """By the contract itself, with both numbers."""
    made = Backend("other", make().view)
    made.kernels.on(Neg, workspace=True)(WORKSPACE_MUTANTS["asks for more when bound"])

    with pytest.raises(GraphError, match=r"asks for 128 bytes of workspace .* asked for 64 when"):
        kernel_check(made, basic(Neg), "plain")


def test_what_cannot_be_the_same_bytes_is_refused() -> None:
    """A pair that is not there, and one of different sizes."""

    def rule(pair: tuple[int, int], op: Op, types: Any, constants: Any) -> Kernel:
        return Kernel(lambda xs, ys, w, p: partial(np.add, *xs, *ys), inplace=(pair,))

    broadcast = Case(
        Sample(Add(), (TensorType("f32", (3, 2)), TensorType("f32", (2,)))), "broadcast"
    )
    for pair, case in (((2, 0), basic(Add)), ((1, 0), broadcast)):
        with pytest.raises(Mismatch, match=f"input {pair[0]} and output 0 may be the same bytes"):
            kernel_check(compiled(partial(rule, pair), Add), case, "in place")


def test_a_kernel_that_says_more_than_its_op_is_tried_in_place() -> None:
    """`Kernel.inplace` counts, not `Op.inplace`; and one that says less is absent."""
    tried: list[Any] = []

    def rule(pairs: Any, op: Op, types: Any, constants: Any) -> Kernel:
        def bind(xs: Any, ys: Any, workspace: Any, persistent: Any) -> Any:
            tried.append([xs[0] is ys[0], xs[1] is ys[0]])
            return partial(np.add, *xs, *ys)

        return Kernel(bind, inplace=pairs)

    assert kernel_check(compiled(partial(rule, ((1, 0),)), Add), basic(Add), "in place") == "ok"
    assert tried == [[False, True]]
    assert kernel_check(compiled(partial(rule, ()), Add), basic(Add), "in place") == "-"


def test_constants_are_in_place_when_a_kernel_is_bound() -> None:
    """Each input in turn; a kernel may pack it into memory that stays."""
    seen: list[frozenset[int]] = []

    def rule(op: Op, types: Any, constants: frozenset[int]) -> Kernel:
        seen.append(constants)
        size = types[1].size_bytes if 1 in constants else 0

        def bind(xs: Any, ys: Any, workspace: Any, persistent: Any) -> Any:
            if not size:
                return partial(np.add, *xs, *ys)
            packed = persistent.view(xs[1].dtype).reshape(xs[1].shape)
            packed[...] = xs[1]
            return partial(np.add, xs[0], packed, *ys)

        return Kernel(bind, persistent_bytes=size)

    assert kernel_check(compiled(rule, Add), basic(Add), "plain") == "ok"
    assert seen == [frozenset(), frozenset({0}), frozenset({1})]


def test_trials_beside_each_other_share_their_blocks() -> None:
    """As two steps of one program do; the workspace is overwritten before each run."""
    case = basic(Neg)
    memory = TrialMemory(compiled(right))
    first = Trial(memory, case.op, case.types)
    second = Trial(memory, case.op, case.types, beside=first)
    first.run(case.arrays())
    second.run(case.arrays(1))

    assert second.workspace is first.workspace and second.persistent is first.persistent
    assert np.array_equal(first.output(0), -case.arrays()[0])
    assert np.array_equal(second.output(0), -case.arrays(1)[0])
    assert not first.misuse(case.arrays()) and not second.misuse(case.arrays(1))
    assert "changed its input 0" in first.misuse(case.arrays(1))

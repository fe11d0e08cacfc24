"""Random programs: what they are made of, what they may give, how they are made small."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from handmade import f32, handmade

import byparts_opset as ops
from byparts_conformance.programs.bounds import expected
from byparts_conformance.programs.generate import THEMES, generate, smooth
from byparts_conformance.programs.gradients import Derivatives, derivatives
from byparts_conformance.programs.minimise import minimised
from byparts_conformance.programs.program import Program, parts_of, side_by_side
from byparts_conformance.programs.text import as_test, program_of, text_of
from byparts_conformance.programs.trial import trial
from byparts_conformance.programs.twins import as_rounds, unrolled
from byparts_graph_ir import FLOATS, INTEGERS, FormatError, TensorType, verify
from byparts_opset.evaluate import evaluate
from byparts_runtime import build as real_build

trial_module = sys.modules["byparts_conformance.programs.trial"]  # `trial` there is the function
SEEDS = range(60)
PROGRAMS = [generate(seed) for seed in SEEDS]


def test_equal_seeds_give_equal_programs() -> None:
    for program in PROGRAMS[:10]:
        again = generate(program.seed)
        assert again.graph == program.graph
        assert [a.tobytes() for a in again.arrays] == [a.tobytes() for a in program.arrays]


@pytest.mark.parametrize("theme", THEMES)
def test_programs_are_well_formed_and_run(theme: str) -> None:
    """Their arrays have the types of the inputs, their updates those of the variables."""
    for seed in range(8):
        program = generate(seed, theme=theme)
        verify(program.graph)
        evaluate(program.graph, *program.arrays)
        news = program.graph.outputs[len(program.graph.outputs) - program.updates :]
        variables = program.graph.inputs[program.feeds :]
        assert [v.type for v in news] == [v.type for v in variables[: program.updates]]


def test_programs_use_all_dtypes_and_most_ops() -> None:
    """Sixty programs have every dtype and more than ninety ops."""
    unsigned = [generate(seed, theme="unsigned") for seed in range(4)]  # each seventeenth is
    dtypes = {v.type.dtype for p in (*PROGRAMS, *unsigned) for v in p.graph.values}
    names = {node.op.name for p in PROGRAMS for node in p.graph.nodes}

    assert dtypes == {*FLOATS, *INTEGERS, "bool"}
    assert len(names) > 90


def test_programs_have_variables_bodies_empty_values_and_several_fetches() -> None:
    kinds: Counter[str] = Counter()
    for p in (*PROGRAMS, *[generate(s, theme="loops") for s in range(10)]):
        kinds["variables"] += p.variables > 0
        kinds["updates"] += p.updates > 0
        kinds["fetches"] += len(p.graph.outputs) - p.updates > 2
        kinds["empty"] += any(v.type.size == 0 for v in p.graph.values)
        kinds["0-d"] += any(v.type.dims == () for v in p.graph.inputs)
        kinds["bodies"] += any(n.op.name in ("while", "scan", "if") for n in p.graph.nodes)

    assert all(kinds[k] > 0 for k in ("variables", "updates", "fetches", "empty", "0-d", "bodies"))


def test_a_smooth_program_gives_one_number_of_f64() -> None:
    for seed in range(10):
        (y,) = smooth(seed).graph.outputs
        assert y.type == TensorType("f64", ())


def test_programs_side_by_side_give_what_they_give_alone() -> None:
    some = PROGRAMS[:12]
    together = side_by_side(some)

    for p, parted in zip(some, parts_of(meaning(together), some), strict=True):
        assert [a.tobytes() for a in parted] == [a.tobytes() for a in meaning(p)]


def meaning(program: Program) -> list[np.ndarray[Any, Any]]:
    """What a program gives; the last of a program that prints is its text."""
    return [want.value for want in expected(program, samples=0)]


@pytest.mark.parametrize("program", PROGRAMS[:20], ids=lambda p: str(p.seed))
def test_a_program_is_read_back_from_its_text(program: Program) -> None:
    again = program_of(text_of(program))

    assert again.graph == program.graph
    assert (again.variables, again.updates) == (program.variables, program.updates)
    for a, b in zip(again.arrays, program.arrays, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "does not begin with"),
        ("variables 0, updates 0\n(%x: f32[2]) {\n  return %x\n}\n", "0 arrays for 1 inputs"),
        ("variables 0, updates 0\n(%x: f32[2]) {\n  return %x\n}\nf32[2] = 1 2 3\n", "f32"),
        (
            "variables 0, updates 0\n(%x: f32[2]) {\n  return %x\n}\nhello\n",
            "is no line of an array",
        ),
    ],
)
def test_a_text_that_is_no_program_is_refused(text: str, said: str) -> None:
    with pytest.raises(FormatError, match=said):
        program_of(text)


def test_a_failure_is_a_test_that_can_be_pasted() -> None:
    text = as_test(PROGRAMS[0], "what is wrong", {"backends": ("numpy",)})

    compile(text, "pasted", "exec")
    assert "assert not trial(program, backends=('numpy',))" in text


# -- what outputs may be --------------------------------------------------------------------------


def _multiplies_twice(program: Program) -> str:
    """A fault of our own: a product of a product, of integers, where elements are not 0."""
    for node in program.graph.nodes:
        if isinstance(node.op, ops.Mul) and node.outputs[0].type.dtype in INTEGERS:
            makers = [v.node for v in node.inputs if v.node is not None]
            if any(isinstance(n.op, ops.Mul) for n in makers):
                return "two products in a row"
    return ""


def test_a_failing_program_becomes_small() -> None:
    """Two nodes are left, of few elements, without variables."""
    program = next(p for s in range(300) if _multiplies_twice(p := generate(s, theme="integers")))

    small = minimised(program, _multiplies_twice)

    assert _multiplies_twice(small) and len(small.graph.nodes) <= 3
    assert sum(a.size for a in small.arrays) <= 20 and not small.variables
    evaluate(small.graph, *small.arrays)


def test_a_program_that_is_small_already_stays() -> None:
    program = PROGRAMS[0]

    assert minimised(program, lambda p: "") is program
    assert replace(program, seed=3).graph is program.graph


# -- twins, gradients -----------------------------------------------------------------------------


def test_twins_give_what_their_programs_give() -> None:
    """Bodies written out, and the whole as rounds of a scan, to the same bits or very near."""
    changed = 0
    for seed in range(40):
        program = generate(seed, theme="loops")
        wants = expected(program)
        for twin in (unrolled(program), as_rounds(program)):
            changed += twin.graph != program.graph
            verify(twin.graph)
            got = meaning(twin)
            assert not [said for w, y in zip(wants, got, strict=True) if (said := w.difference(y))]

    assert changed > 30


def test_gradients_of_smooth_programs_agree_with_forward_mode_and_differences() -> None:
    """Sixty programs; the differences are sure enough for most of them."""
    found = [derivatives(smooth(seed)) for seed in range(60)]

    assert not [said for d in found if (said := d.difference())]
    assert sum(d.says_something for d in found) > 45


def test_a_wrong_gradient_is_told() -> None:
    d = Derivatives(reverse=1.0, forward=1.0, noise=1e-12, quotient=1.01, unsure=1e-6, size=1.0)

    assert "differences 1.01" in d.difference()
    assert "forward mode 2.0" in replace(d, forward=2.0).difference()
    assert not replace(d, unsure=0.5).difference() and not replace(d, quotient=1.0).difference()


# -- trials ---------------------------------------------------------------------------------------


def _broken(monkeypatch: pytest.MonkeyPatch, run: Any) -> str:
    """What a trial says where what `build` gives is called as `run(program, feeds)` does."""

    def build(*args: Any, **options: Any) -> Any:
        program = real_build(*args, **options)
        return lambda *feeds: run(program, feeds)

    monkeypatch.setattr(trial_module, "build", build)
    x = f32(1, 2, 3)
    program = handmade(lambda x: [ops.reverse(x, (0,)), ops.exp(x)], x=x)
    return trial(program, backends=("numpy",))


def test_a_trial_tells_what_a_program_must_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Change a feed, give an array that the next run changes, give something else, fail."""
    shared = f32(0, 0, 0)

    def writes(program: Any, feeds: Any) -> Any:
        result = program(*feeds)
        feeds[0][0] = 7
        return result

    def keeps(program: Any, feeds: Any) -> Any:
        y, z = program(*feeds)
        shared[...] = shared + y
        return shared, z

    def swaps(program: Any, feeds: Any) -> Any:
        return program(*feeds)[::-1]

    def fails(program: Any, feeds: Any) -> Any:
        raise ValueError("no")

    right = _broken(monkeypatch, lambda program, feeds: program(*feeds))
    said = [_broken(monkeypatch, run) for run in (writes, keeps, swaps, fails)]

    assert right == "" and "feed 0 was changed" in said[0] and "run 1" in said[1]
    assert "output 0 of run 1" in said[2] and "raises ValueError: no" in said[3]

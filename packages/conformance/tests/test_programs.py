"""Random programs: what they are made of, what they may give, how they are made small."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_conformance.programs.bounds import expected, surely
from byparts_conformance.programs.generate import THEMES, generate, smooth
from byparts_conformance.programs.gradients import Derivatives, derivatives
from byparts_conformance.programs.minimise import minimised
from byparts_conformance.programs.noise import Noise
from byparts_conformance.programs.program import Program, parts_of, side_by_side
from byparts_conformance.programs.text import as_test, program_of, text_of
from byparts_conformance.programs.trial import trial
from byparts_conformance.programs.twins import as_rounds, unrolled
from byparts_graph_ir import FLOATS, INTEGERS, FormatError, Graph, Input, TensorType, Value, verify
from byparts_opset.dtypes import dtype_name
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
    dtypes = {v.type.dtype for p in PROGRAMS for v in p.graph.values}
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


def _program(outputs: Any, **arrays: np.ndarray[Any, Any]) -> Program:
    """`outputs` of inputs that hold these arrays."""
    kinds = {name: TensorType(dtype_name(a.dtype), a.shape) for name, a in arrays.items()}
    inputs = [Input(kind, None, name) for name, kind in kinds.items()]
    return Program(Graph.of(inputs, outputs(*inputs)), tuple(arrays.values()), seed=1)


def f32(*numbers: float) -> np.ndarray[Any, Any]:
    return np.array(numbers, np.float32)


def test_what_is_only_moved_must_be_equal() -> None:
    (want,) = expected(_program(lambda x: [ops.reverse(x, (0,))], x=f32(1, 2, 3)))

    assert not want.difference(f32(3, 2, 1))
    assert "at [2]: 1.0000001" in want.difference(f32(3, 2, np.nextafter(f32(1), f32(2))[0]))


def test_where_a_difference_cancels_more_is_allowed() -> None:
    """x + 1 - x: an error of the sum is as large as what is left."""
    (want,) = expected(_program(lambda x: [(x + 1.0) - x], x=f32(1e5)))

    assert not want.difference(want.value + f32(0.01)) and want.difference(want.value + f32(2))


def test_an_error_is_bounded_where_nothing_cancels() -> None:
    (want,) = expected(_program(lambda x: [ops.exp(x) * 2.0], x=f32(1, 2, 3)))

    assert not want.difference(want.value * np.float32(1 + 1e-6))
    assert want.difference(want.value * np.float32(1 + 1e-4))


def test_a_value_near_a_step_is_not_determined() -> None:
    """Whether sin(pi) is above 0 depends on rounding; whether 2 is does not."""
    (want,) = expected(
        _program(lambda x: [ops.greater(ops.sin(x) - ops.sin(x) * 1.0, 0.0)], x=f32(3, 2))
    )
    (sure,) = expected(_program(lambda x: [ops.greater(x, 0.0)], x=f32(2, -2)))

    assert not want.determined.all() and sure.determined.all()


def test_a_wrong_class_of_number_is_told() -> None:
    """An infinity where a number should be, a number where there is none."""
    (want,) = expected(_program(lambda x: [ops.log(x)], x=f32(-1, 2)))

    assert "instead of nan" in want.difference(f32(0, np.log(2)))
    assert "inf instead of" in want.difference(f32(np.nan, np.inf))
    assert "must be float32[2]" in want.difference(f32(1))


@pytest.mark.parametrize("function", [ops.sigmoid, ops.silu, ops.softplus])
def test_a_sigmoid_may_be_zero_below_the_smallest_normal_number(function: Any) -> None:
    """e^99 is infinite in f32, so 1 / (1 + e^99) is 0; what follows a normal number is checked."""
    (want,) = expected(_program(lambda x: [function(x)], x=f32(-99, -80)))

    assert not want.difference(want.value * f32(0, 1))
    assert want.difference(want.value * f32(1, 0))


def test_many_strong_samples_show_both_sides_of_a_kink_and_of_a_pole() -> None:
    """A product that is 0 but for rounding has an infinite reciprocal; one of 3 has not."""
    rows, column = f32(1, -1, 3, 0).reshape(2, 2), f32(1, 1 - 2**-22).reshape(2, 1)
    quotient = _program(lambda a, b: [1.0 / ops.matmul(a, b)], a=rows, b=column)
    (want,) = surely(quotient, 40)
    (kink,) = surely(_program(lambda x: [ops.relu((x + 1e5) - 1e5)], x=f32(-0.02, -9)), 40)

    assert want.determined.tolist() == [[False], [True]]
    assert not kink.difference(f32(0.01, 0)) and kink.difference(f32(0, 0.1))


def test_the_sign_of_a_zero_that_was_chosen_is_not_told() -> None:
    """relu(-0) is a zero of either sign, and atan2(0, zero) is 0 or pi; atan2(0, 2) is 0."""
    (want,) = surely(
        _program(lambda y, x: [ops.atan2(y, ops.relu(x))], y=f32(0, 0), x=f32(-0.0, 2)), 40
    )

    assert not want.difference(f32(np.pi, 0)) and want.difference(f32(0, 1))


def test_a_sum_that_is_the_last_digit_may_be_zero() -> None:
    """Products of bf16 less nearly themselves: 0 / 0 for one backend, 1 for another; 3 / 3 is 1."""
    x, minus = (
        np.array([1.0, 4.0]).astype("bfloat16"),
        np.array([-0.9921875, -1]).astype("bfloat16"),
    )

    def one(x: Value, minus: Value) -> list[Value]:
        y = (x * x) + minus
        return [ops.floordiv(y, y)]

    (want,) = surely(_program(one, x=x, minus=minus), 320)

    assert want.determined.tolist() == [False, True]


def test_the_error_of_a_mean_adds_up_over_what_it_is_subtracted_from() -> None:
    """A batch of equal numbers: their mean may be off, then all results are, in one direction."""
    ones = np.full((23, 2, 1), -1.4636897, np.float32)
    (want,) = surely(
        _program(
            lambda x, g, b: [ops.sum(ops.batch_norm(x, g, b, epsilon=0.001)[0])],
            **{"x": ones, "g": f32(1, 1), "b": f32(0, 0)},
        ),
        40,
    )

    assert not want.difference(np.float32(-1.7e-4)) and want.difference(np.float32(0.1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_noise_is_a_few_units_in_the_last_place(dtype: Any) -> None:
    x = np.linspace(-3, 3, 50).astype(dtype)
    far = np.abs(Noise(np.random.default_rng(0)).on(x, 4.0).astype(np.float64) - x)

    assert 0 < far.max() <= 5 * np.finfo(dtype).eps * 3


# -- nan and infinities ---------------------------------------------------------------------------

NAN, INF = np.nan, np.inf


def test_a_nan_and_each_infinity_are_told_apart() -> None:
    """exp of nan and of infinities, moved and added."""
    (want,) = expected(_program(lambda x: [ops.exp(x) + 1], x=f32(NAN, INF, -INF)))

    assert not want.difference(f32(NAN, INF, 1))
    assert want.difference(f32(INF, INF, 1)) and want.difference(f32(NAN, NAN, 1))
    assert want.difference(f32(NAN, -INF, 1)) and want.difference(f32(NAN, 7, 1))


def test_the_greatest_of_numbers_with_a_nan_is_nan() -> None:
    (most, at, less) = expected(
        _program(
            lambda x: [ops.max(x), ops.argmax(x), ops.less(x, ops.fill(2, "f32"))],
            x=f32(1, NAN, 3),
        )
    )

    assert not most.difference(f32(NAN).reshape(())) and most.difference(f32(3).reshape(()))
    assert not at.difference(np.array(1)) and at.difference(np.array(2))
    assert not less.difference(np.array([True, False, False]))


def test_a_row_of_a_product_with_an_infinity_is_open_and_the_others_are_not() -> None:
    """Nan or an infinity, as the formula has it; what decides by it is not compared."""
    product, sign = expected(
        _program(
            lambda a, b: [y := ops.matmul(a, b), ops.greater(y, ops.fill(0, "f32"))],
            a=f32(INF, 1, 1, 1).reshape(2, 2),
            b=f32(0, 1).reshape(2, 1),
        )
    )

    assert product.determined.tolist() == [[False], [True]] == sign.determined.tolist()


def test_a_nan_as_an_integer_is_open() -> None:
    (want,) = expected(_program(lambda x: [ops.cast(x, "i32")], x=f32(NAN, 2.5)))

    assert want.determined.tolist() == [False, True]


def test_every_eighth_program_has_nan_or_infinities_among_its_inputs() -> None:
    """Those of a third at least, for some have no input of floats; others do only when asked."""
    odd = [_has_not_finite(generate(seed)) for seed in range(7, 240, 8)]

    assert sum(odd) >= 10 and not any(_has_not_finite(generate(seed)) for seed in range(7))
    assert any(_has_not_finite(generate(seed, not_finite=True)) for seed in range(7))


def _has_not_finite(program: Program) -> bool:
    floats = [a.astype(np.float64) for a in program.arrays if a.dtype.kind == "f"]
    return any(not np.all(np.isfinite(a)) for a in floats)


# -- small ones -----------------------------------------------------------------------------------


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
    program = _program(lambda x: [ops.reverse(x, (0,)), ops.exp(x)], x=x)
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

"""The outputs that programs must give: what their error bounds allow, and what they tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from handmade import f32, handmade

import byparts_opset as ops
from byparts_conformance.programs import bounds
from byparts_conformance.programs.bounds import expected, surely
from byparts_conformance.programs.generate import generate
from byparts_conformance.programs.noise import Noise, evaluated as evaluated_with
from byparts_conformance.programs.program import Program
from byparts_graph_ir import Value
from byparts_opset.dtypes import numpy_dtype


def test_what_is_only_moved_must_be_equal() -> None:
    (want,) = expected(handmade(lambda x: [ops.reverse(x, (0,))], x=f32(1, 2, 3)))

    assert not want.difference(f32(3, 2, 1))
    assert "at [2]: 1.0000001" in want.difference(f32(3, 2, np.nextafter(f32(1), f32(2))[0]))


def test_where_a_difference_cancels_more_is_allowed() -> None:
    """x + 1 - x: an error of the sum is as large as what is left."""
    (want,) = expected(handmade(lambda x: [(x + 1.0) - x], x=f32(1e5)))

    assert not want.difference(want.value + f32(0.01)) and want.difference(want.value + f32(2))


def test_an_error_is_bounded_where_nothing_cancels() -> None:
    (want,) = expected(handmade(lambda x: [ops.exp(x) * 2.0], x=f32(1, 2, 3)))

    assert not want.difference(want.value * np.float32(1 + 1e-6))
    assert want.difference(want.value * np.float32(1 + 1e-4))


def test_a_value_near_a_step_is_not_determined() -> None:
    """Whether sin(pi) is above 0 depends on rounding; whether 2 is does not."""
    (want,) = expected(
        handmade(lambda x: [ops.greater(ops.sin(x) - ops.sin(x) * 1.0, 0.0)], x=f32(3, 2))
    )
    (sure,) = expected(handmade(lambda x: [ops.greater(x, 0.0)], x=f32(2, -2)))

    assert not want.determined.all() and sure.determined.all()


def test_a_wrong_class_of_number_is_told() -> None:
    """An infinity where a number should be, a number where there is none."""
    (want,) = expected(handmade(lambda x: [ops.log(x)], x=f32(-1, 2)))

    assert "instead of nan" in want.difference(f32(0, np.log(2)))
    assert "inf instead of" in want.difference(f32(np.nan, np.inf))
    assert "must be float32[2]" in want.difference(f32(1))


@pytest.mark.parametrize("function", [ops.sigmoid, ops.silu, ops.softplus])
def test_a_sigmoid_may_be_zero_below_the_smallest_normal_number(function: Any) -> None:
    """e^99 is infinite in f32, so 1 / (1 + e^99) is 0; what follows a normal number is checked."""
    (want,) = expected(handmade(lambda x: [function(x)], x=f32(-99, -80)))

    assert not want.difference(want.value * f32(0, 1))
    assert want.difference(want.value * f32(1, 0))


def test_many_strong_samples_show_both_sides_of_a_kink_and_of_a_pole() -> None:
    """A product that is 0 but for rounding has an infinite reciprocal; one of 3 has not."""
    rows, column = f32(1, -1, 3, 0).reshape(2, 2), f32(1, 1 - 2**-22).reshape(2, 1)
    quotient = handmade(lambda a, b: [1.0 / ops.matmul(a, b)], a=rows, b=column)
    (want,) = surely(quotient, 40)
    (kink,) = surely(handmade(lambda x: [ops.relu((x + 1e5) - 1e5)], x=f32(-0.02, -9)), 40)

    assert want.determined.tolist() == [[False], [True]]
    assert not kink.difference(f32(0.01, 0)) and kink.difference(f32(0, 0.1))


def test_the_sign_of_a_zero_that_was_chosen_is_not_told() -> None:
    """relu(-0) is a zero of either sign, and atan2(0, zero) is 0 or pi; atan2(0, 2) is 0."""
    (want,) = surely(
        handmade(lambda y, x: [ops.atan2(y, ops.relu(x))], y=f32(0, 0), x=f32(-0.0, 2)), 40
    )

    assert not want.difference(f32(np.pi, 0)) and want.difference(f32(0, 1))


def test_a_sum_that_is_the_last_digit_may_be_zero() -> None:
    """Products of bf16 less nearly themselves: 0 / 0 for one backend, 1 for another; 3 / 3 is 1."""
    bf16 = numpy_dtype("bf16")
    x, minus = np.array([1.0, 4.0]).astype(bf16), np.array([-0.9921875, -1]).astype(bf16)

    def one(x: Value, minus: Value) -> list[Value]:
        y = (x * x) + minus
        return [ops.floordiv(y, y)]

    (want,) = surely(handmade(one, x=x, minus=minus), 320)

    assert want.determined.tolist() == [False, True]


def test_the_error_of_a_mean_adds_up_over_what_it_is_subtracted_from() -> None:
    """A batch of equal numbers: their mean may be off, then all results are, in one direction."""
    ones = np.full((23, 2, 1), -1.4636897, np.float32)
    (want,) = surely(
        handmade(
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
    (want,) = expected(handmade(lambda x: [ops.exp(x) + 1], x=f32(NAN, INF, -INF)))

    assert not want.difference(f32(NAN, INF, 1))
    assert want.difference(f32(INF, INF, 1)) and want.difference(f32(NAN, NAN, 1))
    assert want.difference(f32(NAN, -INF, 1)) and want.difference(f32(NAN, 7, 1))


def test_the_greatest_of_numbers_with_a_nan_is_nan() -> None:
    (most, at, less) = expected(
        handmade(
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
        handmade(
            lambda a, b: [y := ops.matmul(a, b), ops.greater(y, ops.fill(0, "f32"))],
            a=f32(INF, 1, 1, 1).reshape(2, 2),
            b=f32(0, 1).reshape(2, 1),
        )
    )

    assert product.determined.tolist() == [[False], [True]] == sign.determined.tolist()


def test_a_nan_as_an_integer_is_open() -> None:
    (want,) = expected(handmade(lambda x: [ops.cast(x, "i32")], x=f32(NAN, 2.5)))

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


def test_what_is_equal_to_the_bit_needs_no_evaluation_with_noise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Noise is made for the first result that is not, and once for all outputs."""
    evaluations = []

    def evaluated(program: Program, noise: Noise | None) -> Any:
        evaluations.append(noise)
        return real(program, noise)

    real = evaluated_with
    monkeypatch.setattr(bounds, "evaluated", evaluated)
    one, other = expected(handmade(lambda x: [ops.exp(x), ops.tanh(x)], x=f32(1.0)))

    assert not one.difference(one.value) and not other.difference(other.value)
    assert evaluations == [None] and (one.compared, other.compared) == (1, 1)
    assert not one.difference(np.nextafter(one.value, np.float32(9)))
    assert other.difference(other.value + np.float32(0.1))
    assert len(evaluations) == 1 + bounds.SAMPLES

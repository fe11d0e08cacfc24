"""Every step leaves the answer; wrong ones are refused with the code that forbids them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from emitters import each_emitter
from hypothesis import given, settings, strategies as st
from tensor_programs import (
    PROGRAMS,
    blur,
    chain,
    conv,
    cumulative,
    empty_outputs,
    matmul,
    positions,
    softmax,
    symbolic,
)

from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.build import build
from byparts_tensor_ir.expression import const
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.find import ScheduleError
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.statement import For, stores, walk
from byparts_tensor_ir.tensor import compute, placeholder


def _check(s: Schedule, inputs: list[Any], answer: Any, emitter: str | None = None) -> None:
    expected = answer(*inputs)
    outputs = empty_outputs(s.func, expected)
    interpret(s.func, *inputs, *outputs)
    for got, wanted in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5, err_msg=str(s))
    if emitter is not None:
        outputs = empty_outputs(s.func, expected)
        build(s.func, emitter=emitter)(*inputs, *outputs)
        for got, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5, err_msg=str(s))


def _random_step(s: Schedule, draw: Any) -> None:
    """One step with arguments that exist; it may be refused."""
    names = [x.name for x in walk(s.func.body) if isinstance(x, For)]
    blocks = sorted({x.block for x in stores(s.func.body)})
    loop, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    block = draw(st.sampled_from(blocks))
    scope = draw(st.sampled_from(["local", "register"]))
    steps: list[Any] = [
        lambda: s.split(loop, draw(st.integers(1, 8))),
        lambda: s.fuse(loop, other),
        lambda: s.reorder(loop, other),
        lambda: s.vectorize(loop),
        lambda: s.parallel(loop),
        lambda: s.unroll(loop),
        lambda: s.inline(block),
        lambda: s.compute_at(block, loop),
        lambda: s.cache_write(block, loop, scope),
        lambda: s.cache_read(draw(st.sampled_from([b.name for b in s.func.params])), loop, scope),
        lambda: s.rfactor(block, loop),
        lambda: s.read_through(draw(st.sampled_from([b.name for b in s.func.params])), scope),
        lambda: s.write_through(block, scope),
        lambda: s.partition(),
    ]
    draw(st.sampled_from(steps))()


@given(st.data(), st.sampled_from(sorted(PROGRAMS)))
@settings(deadline=None)
def test_no_sequence_of_steps_changes_the_answer(data: st.DataObject, name: str) -> None:
    func, inputs, answer = PROGRAMS[name]()
    s = Schedule(func)
    for _ in range(data.draw(st.integers(1, 6))):
        before = s.func
        try:
            _random_step(s, data.draw)
        except ScheduleError:
            assert s.func is before
    _check(s, inputs, answer)


@each_emitter
@given(st.data(), st.sampled_from(sorted(PROGRAMS)))
@settings(deadline=None)
@pytest.mark.long
def test_compiled_code_follows_every_step(emitter: str, data: st.DataObject, name: str) -> None:
    func, inputs, answer = PROGRAMS[name]()
    s = Schedule(func)
    for _ in range(data.draw(st.integers(2, 6))):
        try:
            _random_step(s, data.draw)
        except ScheduleError:
            continue
    try:
        build(s.func, emitter=emitter)
    except EmitError:
        assert name == "symbolic"  # rfactor makes a buffer of a symbolic size
        return
    _check(s, inputs, answer, emitter)


@each_emitter
def test_a_whole_schedule_of_a_product(emitter: str) -> None:
    func, inputs, answer = matmul(9, 37, 11)
    s = Schedule(func).split("C_i", 4).split("C_j", 8).split("C_k", 4)
    s.reorder("C_k_o", "C_j_o", "C_i_o", "C_k_i", "C_i_i", "C_j_i")
    s.cache_write("C", "C_i_o", "register").cache_read("B", "C_j_o", "local")
    s.unroll("C_i_i").vectorize("C_j_i").vectorize("C_w1").unroll("C_w0").vectorize("B_local_1")
    _check(s, inputs, answer, emitter)
    again = Schedule(func).replay(s.steps)
    assert str(again) == str(s)


@each_emitter
def test_a_producer_moves_to_its_reader_and_shrinks(emitter: str) -> None:
    func, inputs, answer = blur(37)
    s = Schedule(func).split("C_i", 8).compute_at("B", "C_i_o")
    (b,) = s.func.locals
    assert [str(d) for d in b.shape] == ["10"]  # 8 elements of C read 10 of B
    _check(s, inputs, answer, emitter)


@each_emitter
def test_convolution_with_padding_in_place(emitter: str) -> None:
    func, inputs, answer = conv(9, 3)
    _check(Schedule(func).inline("P").vectorize("Y_j"), inputs, answer, emitter)
    _check(
        Schedule(func).split("Y_i", 4).compute_at("P", "Y_i_o").vectorize("Y_j"),
        inputs,
        answer,
        emitter,
    )


@each_emitter
def test_rows_of_softmax_are_reduced_over_lanes(emitter: str) -> None:
    func, inputs, answer = softmax(3, 83)
    s = Schedule(func)
    for loop in ("T_j", "E_c", "S_k", "Y_c"):
        s.vectorize(loop)
    _check(s, inputs, answer, emitter)


@each_emitter
def test_positions_of_the_greatest_over_lanes(emitter: str) -> None:
    func, inputs, answer = positions(5, 83)
    _check(Schedule(func).vectorize("Y_j"), inputs, answer, emitter)


@each_emitter
def test_one_function_for_many_sizes(emitter: str) -> None:
    func, _, _ = symbolic()
    s = Schedule(func).split("C_j", 4).vectorize("C_j_i")
    for shape in ((3, 4, 5), (1, 1, 1), (2, 7, 0), (5, 9, 33)):
        _, inputs, answer = symbolic(shape)
        _check(s, inputs, answer, emitter)
    _, inputs, answer = symbolic((3, 4, 5))
    with pytest.raises(ValueError, match=r"C: f32\[m, n\] got shape \[3, 5\]: n is 4 on axis 1"):
        interpret(s.func, *inputs, np.zeros((3, 5), np.float32))


def test_partial_results_over_all_of_a_loop_begin_where_a_condition_keeps_them_from_adding() -> (
    None
):
    func, inputs, answer = positions()
    s = Schedule(func).split("Y_j", 4).rfactor("Y", "Y_j_o").rfactor("Y_rf", "Y_j_i")
    _check(s, inputs, answer)
    _check(s.partition(), inputs, answer)


def test_a_loop_below_conditions_on_others_ends_where_its_own_does() -> None:
    """The condition on rows stands around that on columns; no condition is left."""
    x = placeholder((5, 10), "X")
    y = compute((5, 10), lambda i, j: x[i, j] * 2.0, "Y")
    s = Schedule(lower([x, y], "twice")).split("Y_j", 16).split("Y_i", 3).vectorize("Y_j_i")
    given_x = np.arange(50, dtype=np.float32).reshape(5, 10)
    text = str(s.partition().func)
    assert "if " not in text and "range(10):  # vectorize" in text
    _check(s, [given_x], lambda x: [2 * x])


def test_a_block_keeps_its_conditions_where_it_is_computed() -> None:
    """The last round of S_k_o adds one element, also below Y_c."""
    func, inputs, answer = softmax()
    s = Schedule(func).split("S_k", 6).compute_at("S", "Y_c")
    _check(s, inputs, answer)
    _check(s.split("S_k_i", 5), inputs, answer)


def test_a_copy_of_rows_whose_numbers_are_read_is_not_larger_than_their_buffer() -> None:
    func, inputs, answer = PROGRAMS["gather"]()
    s = Schedule(func)
    s.cache_read("X", "Y_i")

    assert [b.shape for b in s.func.locals] == [(const(6), const(5))]
    _check(s, inputs, answer)


def test_a_copy_of_a_reduction_whose_identity_stands_elsewhere_is_refused() -> None:
    func, _, _ = conv()
    s = Schedule(func).reorder("Y_r", "Y_i").partition()
    with pytest.raises(
        ScheduleError, match=r"(?s)other statements write Y; do it before partit.*= 0.0"
    ):
        s.write_through("Y", "local")


@each_emitter
def test_buffers_of_a_pair_have_names_of_their_own(emitter: str) -> None:
    func, inputs, answer = positions(5, 23)
    s = Schedule(func).cache_write("Y", "Y_i", "local").cache_write("Y", "Y_j", "local")
    assert len({b.name for b in s.func.locals}) == 4
    _check(s, inputs, answer, emitter)


@each_emitter
def test_each_round_of_an_unrolled_loop_has_its_own_buffers(emitter: str) -> None:
    func, inputs, answer = matmul(3, 4, 5)
    s = Schedule(func).unroll("C_i").cache_write("C", "C_i", "local")
    _check(s, inputs, answer, emitter)


def test_wrong_steps_are_refused_with_the_code() -> None:
    func, _, _ = cumulative()
    with pytest.raises(ScheduleError, match=r"(?s)vectorize U_t: a round reads elements of S_scan"):
        Schedule(func).vectorize("U_t")
    func, _, _ = matmul()
    with pytest.raises(
        ScheduleError, match=r"(?s)parallel C_k: its rounds add .*sum= A\[C_i, C_k\]"
    ):
        Schedule(func).parallel("C_k")
    with pytest.raises(ScheduleError, match="parallel C_k: its rounds add"):
        Schedule(func).cache_write("C", "C_j").parallel("C_k")
    with pytest.raises(ScheduleError, match="no loop 'x'; loops: C_i, C_j, C_k"):
        Schedule(func).split("x", 2)
    with pytest.raises(ScheduleError, match="C_k is not the whole body"):
        Schedule(func).fuse("C_i", "C_k")
    with pytest.raises(AttributeError, match="no step 'tilt'; steps: split"):
        Schedule(func).tilt()
    func, _, _ = chain()
    with pytest.raises(ScheduleError, match="C is a parameter"):
        Schedule(func).inline("C")

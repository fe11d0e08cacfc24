"""Calls that are remembered give what calls that are not give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import ArgumentError

X: Any = bp.asarray([[1.0, -2.0], [3.0, 4.0]])
Y: Any = bp.asarray([[5.0, 6.0], [-7.0, 8.0]])


@pytest.mark.parametrize("second", [(Y, X), (X, X), (Y, Y)])
def test_arguments_keep_their_places(second: tuple[bp.Array, bp.Array]) -> None:
    """A first call with one array twice says nothing about which argument a step reads."""
    for a, b in ((X, X), (X, Y), second):
        result: Any = ops.squared_difference(a, b) - ops.sub(a, b)
        expected = (a.numpy() - b.numpy()) ** 2 - (a.numpy() - b.numpy())
        assert result.numpy().tolist() == expected.tolist()


def test_equal_numbers_of_other_kinds_are_other_calls() -> None:
    """1, 1.0 and True are equal, and mean an axis, a bound and a flag."""
    assert ops.sum(X, 1).shape == (2,)
    assert ops.sum(X, 1, True).shape == (2, 1)
    assert ops.sum(X, 1, False).shape == (2,)
    assert np.signbit(bp.asarray(ops.mul(X, -0.0)).numpy()).tolist() == [
        [True, False],
        [True, True],
    ]
    assert not np.signbit(bp.asarray(ops.mul(bp.asarray([1.0]), 0.0)).numpy()).any()


def test_indices_are_part_of_what_is_remembered() -> None:
    assert [float(X[i, j]) for i in (0, 1) for j in (0, 1)] == [1, -2, 3, 4]
    assert X[None, ..., ::-1].numpy().tolist() == [[[-2, 1], [4, 3]]]
    assert X[0:1].shape != X[0].shape


def test_remembered_calls_are_recorded() -> None:
    """A call has a gradient whether it is the first of its kind or not."""
    for _ in range(3):
        with bp.record():
            w = bp.asarray([0.5, -0.5])
            loss = ops.sum(ops.softmax(w * 3.0) * bp.asarray([1.0, 0.0]))
        (dw,) = gradients(loss, [w])
        p = 1 / (1 + np.exp(-3.0))
        np.testing.assert_allclose(np.asarray(dw), [3 * p * (1 - p), -3 * p * (1 - p)], rtol=1e-6)


def test_a_result_of_the_first_call_does_not_keep_its_inputs() -> None:
    """Outside of recorders nothing remembers how it was computed."""
    first = ops.softmax(bp.asarray([[1.0, 2.0, 3.0, 4.5]]), -1)

    assert first.node is None


def test_an_effect_happens_once_a_call(capsys: pytest.CaptureFixture[str]) -> None:
    ops.print_value(bp.asarray([1.0, 2.0]), "seen")
    ops.print_value(bp.asarray([1.0, 2.0]), "seen")

    assert capsys.readouterr().out.count("seen") == 2


def test_a_tuple_is_not_its_length_and_items() -> None:
    x = bp.asarray([[1.0, 2.0]])
    ops.transpose(x, (1, 0))

    with pytest.raises(TypeError, match="permutation is int 2"):
        ops.transpose(x, 2, 1, 0)  # type: ignore[call-arg, arg-type]


def test_a_name_among_the_arguments_is_not_a_keyword() -> None:
    """`sum(X, "axis", 1)` is wrong, also after `sum(X, axis=1)` was remembered."""
    assert ops.sum(X, axis=1).shape == (2,)
    wrong: Any = ops.sum
    with pytest.raises(ArgumentError, match="axis is str"):
        wrong(X, "axis", 1)


def test_shapes_that_never_repeat_do_not_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """When much is known all is forgotten, and found again."""
    from byparts_eager import kind, plan

    monkeypatch.setattr(plan, "_MOST_PLANS", len(plan.plans) + 5)
    for n in range(1, 40):
        x: Any = bp.Array(np.full((n,), 2.0, np.float32))
        total: Any = ops.sum(x * x)
        assert float(total) == 4 * n
        assert len(plan.plans) <= plan._MOST_PLANS
    monkeypatch.setattr(kind, "_MOST_KINDS", 10)
    for n in range(1, 40):
        assert bp.Array(np.zeros((n, 2), np.float32)).shape == (n, 2)
        assert len(kind._kinds) <= 10
    assert (X + Y).numpy().tolist() == (X.numpy() + Y.numpy()).tolist()


def test_memory_that_plans_keep_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are bound at each call where too much is kept already, and compute the same."""
    from byparts_eager import kind, plan

    kind.forget()
    monkeypatch.setattr(plan, "_MOST_HELD_BYTES", 0)
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    expected = np.exp(x) / np.exp(x).sum(-1, keepdims=True)

    for _ in range(2):
        np.testing.assert_allclose(np.asarray(ops.softmax(bp.Array(x))), expected, rtol=1e-6)
    assert plan._held.get("bytes", 0) == 0
    kind.forget()

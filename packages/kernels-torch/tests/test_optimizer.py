"""In place an optimizer is one call into C, which the runtime may run on the variables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest
from torch_kernel import BACKEND, Array, kernel

from byparts_graph_ir import Input, Node, Op, TensorType
from byparts_graph_ir.backend import Run
from byparts_opset.optimizer import Adam, GradientDescent, Momentum

torch = pytest.importorskip("torch", reason="needs torch")

RANDOM = np.random.default_rng(0)
OPS = (GradientDescent(2), Momentum(2, 0.9), Momentum(2, 0.9, True), Adam(2))


def given(op: Op, *shapes: tuple[int, ...]) -> list[Any]:
    """Old values, gradients, then rate and number of the step."""
    groups = len(op.inplace) // 2
    scalars = [0.1, 3.0] if isinstance(op, Adam) else [0.1]
    values = [torch.rand(shape) for _ in range(groups + 1) for shape in shapes]
    return [*values, *(torch.tensor(s) for s in scalars)]


def bound(op: Op, inputs: Sequence[Any], outputs: Sequence[Any]) -> Run:
    types = (TensorType("f32", tuple(x.shape)) for x in inputs)
    with BACKEND.around():
        run: Run = BACKEND.bind(Node(op, tuple(Input(t) for t in types)), inputs, outputs)
    return run


@pytest.mark.parametrize("op", OPS, ids=str)
def test_in_place_it_is_one_call(op: Op) -> None:
    inputs = given(op, (3, 4), (4,))

    run = bound(op, inputs, inputs[: len(op.inplace)])

    assert isinstance(run, partial)
    assert isinstance(run.func, BuiltinFunctionType)


@pytest.mark.parametrize("op", OPS, ids=str)
def test_in_place_it_computes_what_the_op_means(op: Op) -> None:
    """Three times over: the old values of a step are the new ones of the one before."""
    inputs = given(op, (3, 4), (4,))
    count = len(op.inplace)
    arrays = [x.numpy().copy() for x in inputs]
    run = bound(op, inputs, inputs[:count])
    for _ in range(3):
        with BACKEND.around():
            run()
        arrays[:count] = op.evaluate(*arrays)

    for x, want in zip(inputs, arrays, strict=True):
        np.testing.assert_allclose(x.numpy(), want, rtol=1e-5, atol=1e-6)


def test_what_has_other_memory_is_copied_first() -> None:
    """One weight in place, the other not; and no old value is changed that is not in place."""
    op = GradientDescent(2)
    inputs = given(op, (3,), (2,))
    kept = inputs[1].clone()
    other = torch.empty(2)

    with BACKEND.around():
        bound(op, inputs, [inputs[0], other])()

    np.testing.assert_allclose(other, kept - 0.1 * inputs[3], rtol=1e-6)
    assert torch.equal(inputs[1], kept)


def test_weights_of_two_dtypes_are_two_calls() -> None:
    """The fused kernels take one at a time."""
    rate = np.float32(0.5)
    w: list[Array] = [np.ones(3, np.float32), np.ones(2, np.float64)]

    news = kernel(GradientDescent(2), *w, *w, np.asarray(rate))

    assert [x.tolist() for x in news] == [[0.5] * 3, [0.5] * 2]

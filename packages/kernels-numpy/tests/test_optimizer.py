"""Steps of optimizers against `evaluate`: weights of several blocks, over the old values."""

import numpy as np
import pytest
from bound import BACKEND, bound, kernel, node_on, peak_bytes, spread

from byparts_graph_ir import GraphError, Op
from byparts_opset import Adam, Momentum
from byparts_opset.dtypes import Array

RANDOM = np.random.default_rng(5)
RATE, STEP = np.array(0.1, np.float32), np.array(3, np.float32)
SHAPES = ((300, 250), (7,), (), (0, 3))
OPS: list[tuple[Op, int]] = [  # and how many values of each weight it takes
    (Momentum(4), 3),
    (Momentum(4, 0.5, nesterov=True), 3),
    (Adam(4), 4),
]


def drawn(values: int) -> list[Array]:
    """`values` arrays of each shape, all positive, then the numbers."""
    found = [RANDOM.uniform(0.1, 1, s).astype(np.float32) for _ in range(values) for s in SHAPES]
    return [*found, RATE, STEP] if values == 4 else [*found, RATE]


@pytest.mark.parametrize(("op", "values"), OPS, ids=str)
def test_as_evaluate(op: Op, values: int) -> None:
    """Also of operands with gaps in memory."""
    arrays = drawn(values)

    for given in (arrays, [spread(a) for a in arrays]):
        for found, expected in zip(kernel(op, *given), op.evaluate(*arrays), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("op", "values"), OPS, ids=str)
def test_all_old_values_may_be_overwritten_at_once(op: Op, values: int) -> None:
    """As a training step does it; the gradients stay as they were."""
    arrays = drawn(values)
    expected, gradients = op.evaluate(*arrays), [a.copy() for a in arrays]
    outputs = arrays[: len(expected)]

    BACKEND.bind(node_on(op, *arrays), arrays, outputs)()

    for found, want in zip(outputs, expected, strict=True):
        np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-6)
    for found, want in zip(arrays[len(expected) :], gradients[len(expected) :], strict=True):
        np.testing.assert_array_equal(found, want)


@pytest.mark.parametrize(("op", "values"), OPS, ids=str)
def test_a_run_takes_no_memory(op: Op, values: int) -> None:
    """Scratch is made when the kernel is bound."""
    assert peak_bytes(bound(op, *drawn(values))) < 10_000


def test_steps_count_from_one() -> None:
    """Nothing is divided by 1 - beta^0, and nothing is written."""
    w = np.ones(3, np.float32)
    old = w.copy()

    with pytest.raises(GraphError, match=r"adam: the step is 0.0, and the first is number 1"):
        BACKEND.bind(
            node_on(Adam(1), w, w, w, w, RATE, STEP),
            [w, w, w, w, RATE, np.zeros((), "f4")],
            [w, w, w],
        )()
    np.testing.assert_array_equal(w, old)


def test_weights_of_several_dtypes_take_scratch_of_their_own() -> None:
    """Else f64 would be rounded to the f32 of the first weight."""
    w = [np.ones(3, np.float32), np.full(2, 1 / 3)]
    given = (*w, *w, *w, *w, np.array(0.1, np.float32), np.array(1, np.float32))

    for found, expected in zip(kernel(Adam(2), *given), Adam(2).evaluate(*given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6 if found.dtype == "f4" else 1e-14)

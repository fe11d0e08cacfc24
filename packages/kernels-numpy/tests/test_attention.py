"""Attention in blocks against `evaluate`: many heads in a block, many blocks in a head."""

import numpy as np
import pytest
from bound import bound, kernel, peak_bytes, spread

from byparts_kernels_numpy import attention as rules
from byparts_opset import Attention, AttentionGradient
from byparts_opset.dtypes import Array

RANDOM = np.random.default_rng(4)
# queries, keys and values; the blocks below hold 48 scores
SHAPES = [
    ((5, 2, 4), (5, 3, 4), (5, 3, 2)),  # 8 matrices of 6 in a block, 5 of them there
    ((2, 7, 2, 3), (2, 7, 2, 3), (2, 7, 2, 1)),  # 14 matrices of 4
    ((2, 10, 3), (2, 10, 3), (2, 10, 3)),  # rows 4, 4 and 2 of each matrix
    ((9, 3), (20, 3), (20, 2)),  # two rows at a time, and causal leaves out most keys
    ((20, 3), (4, 3), (4, 2)),
    ((2, 3), (100, 3), (100, 2)),  # not even one row
    ((2, 3), (0, 3), (0, 2)),
    ((0, 3), (2, 3), (2, 2)),
    ((0, 2, 3), (0, 2, 3), (0, 2, 3)),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK_BYTES", 48 * 4)


def drawn(*shapes: tuple[int, ...]) -> list[Array]:
    return [RANDOM.normal(size=shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_forwards_as_evaluate(shapes: tuple[tuple[int, ...], ...], causal: bool) -> None:
    """Both outputs, also of operands with gaps in memory."""
    op, arrays = Attention(causal, 0.7), drawn(*shapes)

    for given in (arrays, [spread(a) for a in arrays]):
        for found, expected in zip(kernel(op, *given), op.evaluate(*arrays), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_backwards_as_evaluate(shapes: tuple[tuple[int, ...], ...], causal: bool) -> None:
    """All three gradients; blocks add up."""
    op, (q, k, v) = AttentionGradient(causal), drawn(*shapes)
    y, sums = Attention(causal).evaluate(q, k, v)
    arrays = (*drawn(y.shape), q, k, v, y, sums)

    for found, expected in zip(kernel(op, *arrays), op.evaluate(*arrays), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_a_run_takes_no_memory() -> None:
    """Scratch is made when the kernel is bound."""
    q, k, v, dy = drawn(*[(4, 100, 16)] * 4)
    y, sums = Attention().evaluate(q, k, v)

    assert peak_bytes(bound(Attention(), q, k, v)) < 10_000
    assert peak_bytes(bound(AttentionGradient(), dy, q, k, v, y, sums)) < 10_000

"""Random numbers: the same eagerly and compiled, and exactly resumed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
from byparts_graph_ir import ArgumentError


def drawn(random: bp.Random) -> list[Any]:
    return [
        random.uniform((2, 3), -1.0, 2.0),
        random.normal((4,), 1.0, 0.5, "f64"),
        random.bernoulli(0.3, (5,)),
        random.integers(-3, 9, (6,)),
        random.permutation(7),
        random.dropout(bp.Array(np.ones(10, np.float32)), 0.4),
    ]


def test_eager_and_compiled_draw_the_same_numbers() -> None:
    one, two = bp.Random(5), bp.Random(5)
    compiled = bp.compile(lambda: drawn(two), backends=("numpy",))
    for _ in range(2):
        for x, y in zip(drawn(one), compiled(), strict=True):
            assert (x.dtype, x.numpy().tolist()) == (y.dtype, y.numpy().tolist())


def test_a_saved_position_goes_on_where_it_stood() -> None:
    random = bp.Random(1)
    random.normal((3,))
    position = random.position.value
    expected = random.normal((3,)).numpy().tolist()
    random.position.value = position

    assert random.normal((3,)).numpy().tolist() == expected


def test_numbers_are_within_their_bounds() -> None:
    random = bp.Random(2)

    assert sorted(random.permutation(50).numpy().tolist()) == list(range(50))
    assert set(random.integers(0, 3, (100,)).numpy().tolist()) == {0, 1, 2}
    y = random.dropout(bp.Array(np.ones(1000, np.float32)), 0.25).numpy()
    assert set(y.tolist()) == {0.0, np.float32(1 / 0.75).item()}


def test_a_seed_is_a_whole_number() -> None:
    with pytest.raises(ArgumentError, match=r"the seed is 1\.5; give a whole number"):
        bp.Random(1.5)  # type: ignore[arg-type]

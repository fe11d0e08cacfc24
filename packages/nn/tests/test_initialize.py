"""First values: their distributions, and that they are the same each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import byparts_eager as bp
import byparts_nn as nn
from byparts_graph_ir import GraphError
from byparts_nn import initialize
from byparts_nn.initialize import Initializer, fans

SHAPE = (200, 300)
DEVIATIONS: dict[str, tuple[Initializer, float]] = {
    "normal": (initialize.normal(0.3), 0.3),
    "uniform": (initialize.uniform(-1, 1), 1 / np.sqrt(3)),
    "truncated_normal": (initialize.truncated_normal(0.5), 0.5 * 0.8796),
    "glorot": (initialize.glorot(), np.sqrt(2 / 500)),
    "xavier, normal": (initialize.xavier(2.0, normal=True), 2 * np.sqrt(2 / 500)),
    "he": (initialize.he(), np.sqrt(2 / 200)),
    "kaiming, out": (initialize.kaiming(fan="out"), np.sqrt(2 / 300)),
    "lecun": (initialize.lecun(), 1 / np.sqrt(3 * 200)),
    "orthogonal": (initialize.orthogonal(), 1 / np.sqrt(300)),
}


@pytest.mark.parametrize("name", DEVIATIONS)
def test_deviations(name: str) -> None:
    """Of 60,000 numbers, within 2 %; their mean is near 0."""
    draw, deviation = DEVIATIONS[name]
    x = draw(SHAPE, np.random.default_rng(0))

    assert x.std() == pytest.approx(deviation, rel=0.02)
    assert abs(x.mean()) < 0.02 * deviation


def test_constants() -> None:
    random = np.random.default_rng(0)

    assert initialize.zeros((2,), random).tolist() == [0, 0]
    assert initialize.ones((2,), random).tolist() == [1, 1]
    assert initialize.constant(0.5)((2,), random).tolist() == [0.5, 0.5]


@pytest.mark.parametrize("shape", [(4, 6), (6, 4), (3, 2, 2)])
def test_orthogonal_rows_or_columns(shape: tuple[int, ...]) -> None:
    """Whichever are fewer."""
    x = initialize.orthogonal(2.0)(shape, np.random.default_rng(0)).reshape(shape[0], -1)
    products = x @ x.T if len(x) <= x.shape[1] else x.T @ x

    np.testing.assert_allclose(products, 4 * np.eye(len(products)), atol=1e-12)


def test_fans() -> None:
    """A matrix is [in, out], a filter [out, in, *window]."""
    assert fans((3, 5)) == (3, 5)
    assert fans((8, 4, 3, 3)) == (36, 72)
    with pytest.raises(GraphError, match=r"\(7,\) has 1 axes; in and out need two"):
        fans((7,))


def test_the_same_program_has_the_same_weights() -> None:
    """After `seed`; another layer and another seed have others; a bias is within 1 / sqrt(in)."""
    models = []
    for number in (1, 1, 2):
        nn.seed(number)
        models.append(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)))
    a, b, c = ([layer.weight.numpy() for layer in model] for model in models)

    assert [np.array_equal(x, y) for x, y in zip(a, b, strict=True)] == [True, True]
    assert not np.array_equal(a[0], a[1])
    assert not np.array_equal(a[0], c[0])
    assert 0 < np.abs(models[0][0].bias.numpy()).max() <= 0.5


def test_a_seed_is_a_whole_number() -> None:
    with pytest.raises(GraphError, match="-1 is no whole number"):
        nn.seed(-1)


def test_dropout_layers_drop_different_elements() -> None:
    """And at each call others; a rate is in [0, 1)."""
    x: Any = bp.asarray(np.ones((4, 50)))
    a: Any = nn.Dropout(0.5)
    b: Any = nn.Dropout(0.5)
    assert np.array_equal(a(x), x)
    with bp.training_mode(True):
        first, second, other = a(x).numpy(), a(x).numpy(), b(x).numpy()

    assert set(np.unique(first)) == {0.0, 2.0}
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, other)
    with pytest.raises(GraphError, match="the rate is 1"):
        nn.Dropout(1.0)

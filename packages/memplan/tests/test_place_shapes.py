"""Adversarial shapes: each with an arena that is known to be enough, and nothing is larger."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from byparts_memplan import Buffer, check, lower_bound, place

Rectangle = tuple[int, int, int, int]  # steps [left, right), bytes [low, high)


def staircase(n: int) -> list[Buffer]:
    """Each lives with the next alone, and is larger."""
    return [Buffer(k + 1, k, k + 2) for k in range(n)]


def nest(n: int) -> list[Buffer]:
    """What a forward pass saves for its backward."""
    return [Buffer(7 * k % 13 + 1, k, 2 * n - k) for k in range(n)]


def comb(n: int) -> list[Buffer]:
    """Teeth that take turns, and a back that lives through all."""
    return [Buffer(5, 0, 2 * n), *(Buffer(9, 2 * k, 2 * k + 1 + k % 2) for k in range(n))]


def crossing(n: int) -> list[Buffer]:
    """Those of the first half die one by one while the others are born."""
    return [Buffer(k % 5 + 1, max(0, k - n // 2), k + n // 2) for k in range(n)]


SHAPES = {
    "nothing": [],
    "one of no life": [Buffer(9, 3, 3)],
    "zero bytes": [Buffer(0, 0, 5), Buffer(0, 2, 9), Buffer(4, 1, 3)],
    "one step": [Buffer(k, 7, 8) for k in range(1, 60)],
    "all alive": [Buffer(3 * k % 17 + 1, 0, 9) for k in range(200)],
    "all equal": [Buffer(64, k, k + 8) for k in range(300)],
    "huge": [Buffer(2**60 + k, k, k + 3) for k in range(40)],
    "huge and small": [Buffer(2**60 if k % 2 else 1, k, k + 2) for k in range(60)],
    "negative steps": [Buffer(5, -k - 3, -k) for k in range(50)],
    "far steps": [Buffer(5, k << 60, (k + 2) << 60) for k in range(50)],
    "staircase": staircase(300),
    "nest": nest(200),
    "comb": comb(200),
    "crossing": crossing(200),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_bound_is_reached(name: str) -> None:
    """What is alive at the fullest step is all that is needed."""
    made = place(SHAPES[name])

    check(made.buffers, made.offsets, made.arena_bytes)
    assert made.arena_bytes == lower_bound(SHAPES[name])


def cut(rng: random.Random, pieces: int, width: int, height: int) -> list[Rectangle]:
    """A rectangle in pieces, by straight cuts and pinwheels."""
    found = [(0, width, 0, height)]
    while len(found) < pieces:
        k = max(rng.sample(range(len(found)), min(3, len(found))), key=lambda k: area(found[k]))
        left, right, low, high = found[k]
        if right - left >= 3 and high - low >= 3 and rng.random() < 0.4:
            a, b = sorted(rng.sample(range(left + 1, right), 2))
            c, d = sorted(rng.sample(range(low + 1, high), 2))
            found[k : k + 1] = [
                (left, b, low, c),
                (b, right, low, d),
                (a, right, d, high),
                (left, a, c, high),
                (a, b, c, d),
            ]
        elif high - low >= 2 and rng.random() < 0.5:
            c = rng.randrange(low + 1, high)
            found[k : k + 1] = [(left, right, low, c), (left, right, c, high)]
        elif right - left >= 2:
            a = rng.randrange(left + 1, right)
            found[k : k + 1] = [(left, a, low, high), (a, right, low, high)]
    return found


def area(piece: Rectangle) -> int:
    return (piece[1] - piece[0]) * (piece[3] - piece[2])


def as_buffers(pieces: Sequence[Rectangle], unit: int = 1) -> list[Buffer]:
    return [Buffer((high - low) * unit, left, right) for left, right, low, high in pieces]


@pytest.mark.parametrize("seed", range(6))
def test_a_cut_rectangle_is_put_together_again(seed: int) -> None:
    """No byte is free at any step, and no greedy order finds that."""
    problem = as_buffers(cut(random.Random(seed), 80, 300, 1024), unit=1024)
    made = place(problem, capacity=1 << 20)

    check(problem, made.offsets, 1 << 20)


def test_a_pinwheel() -> None:
    """The smallest packing that no straight cut divides."""
    problem = as_buffers([(0, 2, 0, 1), (2, 3, 0, 2), (1, 3, 2, 3), (0, 1, 1, 3), (1, 2, 1, 2)])

    assert place(problem).arena_bytes == 3


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_alignments_of_all_kinds(seed: int) -> None:
    """Mixed in one arena: valid, at least the bound, and not above the sum of all."""
    rng = random.Random(seed)
    rows = [
        (rng.randint(1, 900), rng.randrange(40), rng.choice((1, 4, 12, 64, 256))) for _ in "x" * 60
    ]
    problem = [Buffer(size, born, born + 5, alignment) for size, born, alignment in rows]
    made = place(problem)

    check(problem, made.offsets, made.arena_bytes)
    assert lower_bound(problem) <= made.lower_bound_bytes <= made.arena_bytes
    assert made.arena_bytes <= 1.1 * lower_bound(problem)


def one_full_step(n: int) -> list[Buffer]:
    """Short lives of sizes far apart, and a step that is fuller than all others."""
    rng = random.Random(1)
    rows = [(int(2 ** rng.uniform(0, 14)), rng.randrange(n)) for _ in range(n)]
    return [Buffer(64 * size, born, born + rng.randint(1, 40)) for size, born in rows]


def test_of_many_buffers_those_of_the_fullest_steps_are_searched() -> None:
    """The others are put around them."""
    problem = one_full_step(4000)
    made = place(problem)

    check(problem, made.offsets, made.arena_bytes)
    assert made.how.startswith("by search of") and made.optimal


def deep_training(blocks: int) -> list[Buffer]:
    """Saved activations that die in reverse, and temporary ones beside them."""
    rng = random.Random(1)
    saved = [Buffer(64 * rng.randint(1, 4000), t, 2 * blocks - t, 64) for t in range(blocks)]
    around = [Buffer(64 * rng.randint(1, 900), t, t + 2, 64) for t in range(2 * blocks)]
    return [*saved, *around]


def test_many_buffers_of_a_deep_network() -> None:
    """Nine thousand of a training step, of which millions of pairs are alive together."""
    problem = deep_training(3000)
    made = place(problem)

    check(problem, made.offsets, made.arena_bytes)
    assert made.arena_bytes <= 1.001 * made.lower_bound_bytes

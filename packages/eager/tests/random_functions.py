"""Random functions of arrays with state, random numbers and control flow: eager = compiled.

    python packages/eager/tests/random_functions.py 2000 7     # how many, first seed
    python packages/eager/tests/random_functions.py 500 7 gradients

A function is a list of steps drawn from a seed; each step makes a value of values before.  It is
called three times eagerly and three times compiled, each time with the state that the call before
left, the last time with more rows: results and states must be the same bits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import byparts_eager as bp

WIDTH = 3
Step = tuple[str, Any]  # what, and numbers that choose among the values
SMOOTH: tuple[Callable[[Any], Any], ...] = (
    *(bp.tanh, bp.sin, bp.cos, bp.atan, bp.negative, bp.abs, bp.square, bp.sign),
    *(lambda x: bp.exp(bp.clip(x, -5.0, 2.0)), lambda x: bp.log1p(bp.abs(x)), bp.floor),
    *(lambda x: x / (1.0 + bp.abs(x)), lambda x: bp.sqrt(x * x + 1.0), bp.round),
    *(lambda x: bp.hypot(x, 2.0), lambda x: bp.log2(bp.abs(x) + 1.0), lambda x: 2.0 - x),
)
TWO: tuple[Callable[[Any, Any], Any], ...] = (
    *(bp.add, bp.subtract, bp.multiply, bp.maximum, bp.minimum, bp.atan2, bp.logaddexp),
    *(lambda x, y: bp.where(x < y, x, 0.5 * y), lambda x, y: x / (y * y + 1.0)),
    *(lambda x, y: bp.where(bp.logical_or(x > 0, y > 0.5), y, x), lambda x, y: x - 3 * y),
)
ROWS: tuple[Callable[[Any], Any], ...] = (  # from [n, width] to [n, width]
    *(lambda x: x[::-1], lambda x: x[:, ::-1], lambda x: bp.cumulative_sum(x, axis=1)),
    *(lambda x: x - bp.mean(x, axis=1, keepdims=True), lambda x: bp.roll(x, 1, axis=1)),
    *(lambda x: x[:, [2, 0, 1]], lambda x: bp.flip(x, axis=0), lambda x: x + x[0]),
    *(lambda x: bp.concat([x[:, 1:], x[:, :1]], axis=1), lambda x: x * bp.max(x, axis=0)),
    *(lambda x: bp.stack([x[:, 2], x[:, 1], x[:, 0]], axis=1), lambda x: x @ bp.triu(x.mT @ x)),
    *(lambda x: x * bp.astype(bp.argmax(x, axis=1), "f32")[:, None], lambda x: x.at[0].set(1.0)),
    *(lambda x: bp.where(bp.arange(WIDTH) > 0, x, bp.zeros_like(x)), lambda x: bp.tile(x, (1, 1))),
    *(lambda x: bp.take(x, bp.astype(bp.argmin(x, axis=1), "i64"), axis=1)[:, :1] + x,),
    *(lambda x: x / (bp.std(x, axis=0) + 1.0), lambda x: bp.where(bp.any(x > 1, axis=1, keepdims=True), -x, x)),
)  # fmt: skip


class State:
    """What a random function reads and assigns: cells, and a stream of random numbers."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.weights = bp.Cell(rng.normal(0, 0.5, (WIDTH, WIDTH)).astype("f4"), name="weights")
        self.mean = bp.Cell(np.zeros(WIDTH, "f4"), name="mean")
        self.calls = bp.Cell(np.zeros((), "i8"), name="calls")
        self.random = bp.Random(seed)

    def numbers(self) -> list[Any]:
        """All elements of all cells."""
        cells = (self.weights, self.mean, self.calls, *self.random.cells().values())
        return [cell.value.numpy().copy() for cell in cells]


def random_steps(rng: np.random.Generator, count: int, inside: bool = False) -> list[Step]:
    """Steps of a function; `inside` a body nothing is assigned or drawn."""
    kinds = ["smooth", "two", "rows", "two", "matmul", "mean"]
    kinds += [] if inside else ["assign", "draw", "cond", "while", "scan", "dropout"]
    steps: list[Step] = []
    for _ in range(count):
        kind = kinds[int(rng.integers(len(kinds)))]
        numbers = [int(i) for i in rng.integers(0, 1 << 20, 4)]
        bodies = []
        if kind in ("cond", "while", "scan"):
            bodies = [random_steps(rng, int(rng.integers(1, 4)), True) for _ in "ab"]
        steps.append((kind, (numbers, bodies)))
    return steps


def run(steps: Sequence[Step], state: State, x: Any) -> Any:
    """The last value; x: f32[n, width], and so is each value."""
    values = [x]
    for kind, (numbers, bodies) in steps:
        a, b = values[numbers[0] % len(values)], values[numbers[1] % len(values)]
        y = ACTIONS[kind](state, a, b, numbers[2], bodies)
        values.append(bp.clip(y, -50.0, 50.0) if numbers[3] % 2 else y / (1.0 + bp.abs(y)))
    return values[-1]


def _assign(state: State, a: Any, b: Any, number: int, bodies: Any) -> Any:
    state.mean.value = 0.9 * state.mean.value + 0.1 * bp.mean(a, axis=0)
    state.calls.value = state.calls.value + 1
    return a + state.mean.value * bp.astype(state.calls.value, "f32")


def _draw(state: State, a: Any, b: Any, number: int, bodies: Any) -> Any:
    kind = number % 3
    if kind == 0:
        return a + state.random.normal((WIDTH,))
    if kind == 1:
        return a * state.random.uniform((WIDTH,), -1.0, 1.0)
    return bp.where(state.random.bernoulli(0.3, (WIDTH,)), a, b)


def _cond(state: State, a: Any, b: Any, number: int, bodies: Any) -> Any:
    then, otherwise = bodies
    return bp.cond(
        bp.sum(a) > 0.0 if number % 2 else bp.all(a < b),
        lambda x, y: run(then, state, x) + y,
        lambda x, y: run(otherwise, state, y) - b,
        *(a, b),
    )


def _while(state: State, a: Any, b: Any, number: int, bodies: Any) -> Any:
    rounds = number % 4
    _, y = bp.while_loop(
        lambda s: bp.logical_and(s[0] < rounds, bp.any(bp.isfinite(s[1]))),
        lambda s: (s[0] + 1, run(bodies[0], state, s[1]) * 0.5 + 0.5 * b),
        (bp.asarray(0), a),
    )
    return y


def _scan(state: State, a: Any, b: Any, number: int, bodies: Any) -> Any:
    def body(carry: Any, row: Any) -> tuple[Any, Any]:
        new = run(bodies[0], state, bp.expand_dims(carry + row))[0]
        return new, new * row

    carry, rows = bp.scan(body, b[0], a, reverse=bool(number % 2))
    return rows + carry


ACTIONS: dict[str, Callable[[State, Any, Any, int, Any], Any]] = {
    "smooth": lambda state, a, b, i, _: SMOOTH[i % len(SMOOTH)](a),
    "two": lambda state, a, b, i, _: TWO[i % len(TWO)](a, b),
    "rows": lambda state, a, b, i, _: a + 0.5 * ROWS[i % len(ROWS)](a)[: a.shape[0]],
    "matmul": lambda state, a, b, i, _: a @ state.weights.value + state.mean.value,
    "mean": lambda state, a, b, i, _: a - bp.mean(b, axis=0),
    "assign": _assign,
    "draw": _draw,
    "dropout": lambda state, a, b, i, _: state.random.dropout(a, 0.25) + b,
    "cond": _cond,
    "while": _while,
    "scan": _scan,
}


def try_function(seed: int, **options: Any) -> None:
    """Compare one function, eager and compiled.

    Raises:
        AssertionError: a result or a state differs.
    """
    rng = np.random.default_rng(seed)
    steps = random_steps(rng, int(rng.integers(1, 9)))
    eager, compiled = State(seed), State(seed)
    program = bp.compile(lambda x: run(steps, compiled, x), **options)
    for call, rows in enumerate((3, 3, 5)):
        x = rng.normal(0, 1, (rows, WIDTH)).astype("f4")
        wanted = run(steps, eager, bp.asarray(x)).numpy()
        found = program(bp.asarray(x)).numpy()
        for a, b in zip([wanted, *eager.numbers()], [found, *compiled.numbers()], strict=True):
            same = a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()
            assert same, f"seed {seed}, call {call}: {steps}\neager {a!r}\ncompiled {b!r}"


def try_gradient(seed: int, **options: Any) -> None:
    """Compare the gradients of one function, eager (every round recorded) and compiled (of loops).

    Sums of the two have other orders, so they differ by rounding.

    Raises:
        AssertionError: they differ by more.
    """
    rng = np.random.default_rng(seed)
    steps = random_steps(rng, int(rng.integers(1, 9)))

    def loss(state: State) -> Callable[[Any], Any]:
        return bp.value_and_grad(lambda x: bp.sum(run(steps, state, x) ** 2))

    eager, compiled = State(seed), State(seed)
    program = bp.compile(loss(compiled), **options)
    for rows in (3, 5):
        x = bp.asarray(rng.normal(0, 1, (rows, WIDTH)).astype("f4"))
        wanted, found = loss(eager)(x)[1].numpy(), program(x)[1].numpy()
        near = np.abs(wanted - found) <= 1e-5 * (1 + np.abs(wanted))
        assert (near | (np.isnan(wanted) & np.isnan(found))).all(), (
            f"seed {seed}: {steps}\neager {wanted!r}\ncompiled {found!r}"
        )


if __name__ == "__main__":
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    attempt = try_gradient if "gradients" in sys.argv else try_function
    for seed in range(first, first + int(sys.argv[1])):
        try:
            attempt(seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    print(f"{sys.argv[1]} functions from seed {first} on: eager = compiled")

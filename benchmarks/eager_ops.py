"""Microseconds an op on small arrays: NumPy, PyTorch's eager mode, ours, and ours recorded.

    python benchmarks/eager_ops.py            # a table; torch where it is installed

The least of many repetitions, in CPU time of the thread.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from importlib.util import find_spec
from time import thread_time
from typing import Any

import numpy as np

import byparts_eager as bp
import byparts_opset as ops

Row = tuple[str, int, Callable[[Any], Any], Callable[[Any], Any], str]
ROWS: tuple[Row, ...] = (
    ("x + x", 4, lambda x: x + x, lambda x: x + x, "x + x"),
    ("x * 2.0", 4, lambda x: x * 2.0, lambda x: x * 2.0, "x * 2.0"),
    ("tanh", 4, ops.tanh, np.tanh, "torch.tanh(x)"),
    ("sum(x, -1)", 4, lambda x: ops.sum(x, -1), lambda x: np.sum(x, -1), "torch.sum(x, -1)"),
    ("x @ x", 4, lambda x: x @ x, lambda x: x @ x, "x @ x"),
    ("x @ x, 64 by 64", 64, lambda x: x @ x, lambda x: x @ x, "x @ x"),
    ("x[0]", 4, lambda x: x[0], lambda x: x[0], "x[0]"),
    ("x[:, 1:3]", 4, lambda x: x[:, 1:3], lambda x: x[:, 1:3], "x[:, 1:3]"),
    (
        *("reshape", 4, lambda x: ops.reshape(x, (2, 8))),
        *(lambda x: np.reshape(x, (2, 8)), "torch.reshape(x, (2, 8))"),
    ),
    ("softmax", 4, lambda x: ops.softmax(x, -1), lambda x: None, "torch.softmax(x, -1)"),
)


def microseconds(f: Callable[[], Any], number: int = 200) -> float:
    """The least time of a call."""
    f()
    return min(timeit.repeat(f, number=number, repeat=60, timer=thread_time)) / number * 1e6


def recorded(f: Callable[[Any], Any], x: Any) -> Callable[[], None]:
    """A call of f that remembers how its result was computed."""

    def run() -> None:
        with bp.record():
            f(x)

    return run


def main() -> None:
    """Print the table."""
    torch: Any = None
    if find_spec("torch"):
        import torch  # type: ignore[no-redef]

        torch.set_num_threads(1)
    print("| op | numpy | torch | eager | recorded |\n|---|---|---|---|---|")
    for name, size, ours, numpy, theirs in ROWS:
        elements = np.random.default_rng(0).random((size, size), dtype=np.float32)
        x = bp.Array(elements)
        columns = ["-" if name == "softmax" else f"{microseconds(lambda: numpy(elements)):.2f}"]  # noqa: B023
        scope = {"torch": torch, "x": torch and torch.from_numpy(elements.copy())}
        call = eval(f"lambda: {theirs}", scope)
        columns += [f"{microseconds(call):.2f}" if torch else "-"]
        columns += [f"{microseconds(lambda: ours(x)):.2f}"]  # noqa: B023
        columns += [f"{microseconds(recorded(ours, x), 50):.2f}"]
        print(f"| `{name}` | {' | '.join(columns)} |")


if __name__ == "__main__":
    main()

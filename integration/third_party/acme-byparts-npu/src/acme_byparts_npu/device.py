"""The device: a process that computes on one file, as it is told line by line.

    {"run": "add", "inputs": [[offset, "float32", [2, 3], [12, 4]], ...], "outputs": [...], ...}
    {"sync": 7}                      ->   {"done": 7}   or   {"done": 7, "error": "..."}

Commands are done in order and answered by nothing; after one that fails, the others up to the next
"sync" are skipped.  The first eight bytes of the memory count the commands that were begun, so
that even after a crash one can see which it was.  Run by `driver.py`; not for import.
"""

from __future__ import annotations

import json
import mmap
import signal
import sys
from time import sleep
from typing import Any

import numpy as np

Array = Any


def matmul(x: Array, w: Array, y: Array, *, transpose: list[bool]) -> None:
    pairs = zip((x, w), transpose, strict=True)
    first, second = (np.swapaxes(a, -1, -2) if turned else a for a, turned in pairs)
    np.matmul(first, second, out=y)


def reduce_sum(x: Array, y: Array, *, axes: list[int], factor: float = 1.0) -> None:
    np.add.reduce(x, axis=tuple(axes), dtype=y.dtype, out=y.reshape(_kept(x, axes)), keepdims=True)
    if factor != 1.0:
        np.multiply(y, y.dtype.type(factor), out=y)


def _kept(x: Array, axes: list[int]) -> tuple[int, ...]:
    return tuple(1 if i in axes else d for i, d in enumerate(x.shape))


def copy(x: Array, y: Array, *, order: list[int] | None = None) -> None:
    y[...] = x if order is None else x.transpose(order)


def reshape(x: Array, y: Array) -> None:
    y[...] = x.reshape(y.shape)


def fill(y: Array, *, value: float) -> None:
    y[...] = value


def mul_add(x: Array, a: Array, b: Array, y: Array) -> None:
    y[...] = x * a + b


def delay(x: Array, y: Array, *, seconds: float) -> None:
    sleep(seconds)
    y[...] = x


UFUNCS = (
    *("add", "subtract", "multiply", "divide", "negative", "tanh", "exp", "log", "sqrt"),
    *("square", "abs", "maximum", "minimum", "greater", "less", "equal"),
)
FUNCTIONS: dict[str, Any] = {
    f.__name__: f for f in (matmul, reduce_sum, copy, reshape, fill, mul_add, delay)
}
FUNCTIONS |= {name: getattr(np, name) for name in UFUNCS}


def look(memory: mmap.mmap, array: list[Any]) -> Array:
    offset, dtype, shape, strides = array
    return np.ndarray(shape, dtype, memory, offset, strides)


def compute(memory: mmap.mmap, command: dict[str, Any]) -> None:
    name = command.pop("run")
    arrays = [look(memory, a) for a in (*command.pop("inputs"), *command.pop("outputs"))]
    FUNCTIONS[name](*arrays, **command)


def serve(memory: mmap.mmap) -> None:
    error, begun = "", 0
    np.seterr(all="ignore")
    for line in sys.stdin:
        command = json.loads(line)
        if "sync" in command:
            print(json.dumps({"done": command["sync"], "error": error}), flush=True)
            error, begun = "", 0
        elif not error:
            begun += 1
            memory[:8] = begun.to_bytes(8, "little")
            try:
                compute(memory, command)
            except Exception as failed:
                error = f"{type(failed).__name__}: {failed}"


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the host, which then stops us
    serve(mmap.mmap(int(sys.argv[1]), 0))

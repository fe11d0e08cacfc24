"""The speed of a product of matrices after each step of its schedule, beside NumPy's OpenBLAS.

Runs the blocks of `docs/tensor-ir.md` and measures the function that the schedule `s` has after
each of them.  Calls of ours and of NumPy alternate, on one thread; the table has the best of each.

    python benchmarks/tensor_ir_steps.py
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import perf_counter

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded
for variable in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(variable, None)  # OpenBLAS takes the kernels that it has for the processor

import numpy as np  # noqa: E402

from byparts_tensor_ir import Func, build  # noqa: E402

PAGE = Path(__file__).parents[1] / "docs" / "tensor-ir.md"
ROUNDS, MOST_S = 30, 15.0  # a step is measured for so many calls, or so long

_SECTION = re.compile(r"^## (?P<title>.+?)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Print the table of the page."""
    print("| after | ms | GFLOP/s | NumPy, GFLOP/s | ours over NumPy |\n|---|---|---|---|---|")
    for title, func, n in steps(PAGE.read_text(encoding="utf-8")):
        ours, numpy = measured(func, n)
        rates = [2 * n**3 / s / 1e9 for s in (ours, numpy)]
        print(
            f"| {title.lower()} | {ours * 1e3:,.1f} | {rates[0]:.3g} | {rates[1]:.3g} | "
            f"{rates[0] / rates[1]:.3g} |",
            flush=True,
        )


def steps(page: str) -> Iterator[tuple[str, Func, int]]:
    """(title of the section, function after its block, size of the matrices) of each step."""
    space: dict[str, object] = {}
    last: object = None
    for section in _SECTION.finditer(page):
        for code in _CODE.findall(section["body"]):
            with redirect_stdout(StringIO()):
                exec(code, space)
        func, n = getattr(space.get("s"), "func", None), space.get("n")
        if isinstance(func, Func) and isinstance(n, int) and func is not last:
            last = func
            yield section["title"], func, n


def measured(func: Func, n: int) -> tuple[float, float]:
    """Seconds of the best call: of the function, and of NumPy's product."""
    a, b = np.random.default_rng(0).standard_normal((2, n, n)).astype(np.float32)
    c, d = np.empty_like(a), np.empty_like(a)
    ours = build(func)
    ours(a, b, c)
    np.testing.assert_allclose(c, np.matmul(a, b, out=d), rtol=1e-3, atol=1e-3)
    mine: list[float] = []
    numpy: list[float] = []
    end = perf_counter() + MOST_S
    while len(mine) < ROUNDS and (len(mine) < 2 or perf_counter() < end):
        mine.append(seconds(lambda: ours(a, b, c)))
        numpy.append(seconds(lambda: np.matmul(a, b, out=d)))
    return min(mine), min(numpy)


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    begin = perf_counter()
    call()
    return perf_counter() - begin


if __name__ == "__main__":
    main()

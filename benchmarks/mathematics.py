"""Our own functions of mathematics: time for each element beside NumPy and torch, and worst errors.

    python benchmarks/mathematics.py                  # ns for each element, one thread
    python benchmarks/mathematics.py --errors 1 exp   # over all 2^32 arguments; minutes each
    python benchmarks/mathematics.py --errors 97      # over every 97th, all functions

Times are the least of many rounds in turn, on 16,384 elements that stay in the cache.  Errors are
in units of the last place of f32, against the C library's function of f64.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import process_time

for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[variable] = "1"  # before NumPy is loaded

import numpy as np  # noqa: E402
import torch  # noqa: E402

import byparts_tensor_ir as ir  # noqa: E402
from byparts_tensor_ir import Expr  # noqa: E402
from byparts_tensor_ir.expression import const  # noqa: E402
from byparts_tensor_ir.functions import bitcast, call, cast, maximum, select, unary  # noqa: E402

COUNT, ROUNDS, REPEATS = 16_384, 60, 10
CHUNK = 1 << 20
NAMES: tuple[str, ...] = (
    "exp",
    "expm1",
    "log",
    "log1p",
    "tanh",
    "sigmoid",
    "softplus",
    "erf",
    "rsqrt",
)
NAMES += ("sin", "cos", "tan", "pow")
_NUMPY: dict[str, Callable[..., object] | None] = {"pow": np.power, "erf": None}
_NUMPY |= {"rsqrt": lambda x: 1 / np.sqrt(x)}
_NUMPY |= {"sigmoid": lambda x: 1 / (1 + np.exp(-x)), "softplus": lambda x: np.logaddexp(x, 0)}
_TORCH = {"softplus": torch.nn.functional.softplus}


def main() -> None:
    """Print the table of times, or of errors."""
    if sys.argv[1:2] == ["--errors"]:
        for name in sys.argv[3:] or NAMES[:-1]:
            print(name, *worst_error(name, int(sys.argv[2])), flush=True)
        return
    print("| ns for each element | f32 | NumPy | torch | f64 | NumPy | torch |")
    print("|---" * 7 + "|")
    torch.set_num_threads(1)
    for name in NAMES:
        times = [t for dtype in ("f32", "f64") for t in times_of(name, dtype)]
        print(f"| {name} | {' | '.join([f'{t:.2f}' if t else '' for t in times])} |")


def times_of(name: str, dtype: str) -> list[float]:
    """Of ours, NumPy and torch; 0 where a library has no such function."""
    arity = 2 if name == "pow" else 1
    random = np.random.default_rng(0)
    xs = [random.uniform(0.1, 4, COUNT).astype(dtype.replace("f", "float")) for _ in range(arity)]
    y = np.empty_like(xs[0])
    inputs = [ir.placeholder((COUNT,), f"A{i}", dtype) for i in range(arity)]
    out = ir.compute((COUNT,), lambda i: call(name, *[a[i] for a in inputs]), "B")
    ours = ir.build(ir.Schedule(ir.lower([*inputs, out], name)).vectorize("B_i").func)
    tensors = [torch.from_numpy(x) for x in xs]
    of_numpy = _NUMPY.get(name, getattr(np, name, None))
    of_torch = _TORCH.get(name) or getattr(torch, name)
    runs: list[Callable[[], object]] = [lambda: ours(*xs, y)]
    runs += [lambda: of_numpy(*xs)] if of_numpy else [lambda: None]
    runs += [lambda: of_torch(*tensors)]
    best = [float("inf")] * 3
    for _ in range(ROUNDS):
        for k, run in enumerate(runs):
            begin = process_time()
            for _ in range(REPEATS):
                run()
            best[k] = min(best[k], (process_time() - begin) / REPEATS / COUNT * 1e9)
    return [t if t > 0.001 else 0.0 for t in best]


def worst_error(name: str, step: int) -> tuple[float, str]:
    """(the greatest error over every step-th argument, an argument that has it)."""
    begin = ir.placeholder((1,), "begin", "i64")
    k = ir.reduce_axis(CHUNK)
    x = bitcast(cast((begin[0] + k) * step, "i32"), "f32")
    error = _error(call(name, x), _exact(name, cast(x, "f64")))
    out = ir.compute((1,), lambda i: ir.argmax(error, k), "out")
    names = ir.lower([begin, out.op.output(0), out.op.output(1)], f"errors_of_{name}")
    run = ir.build(ir.Schedule(names).vectorize("out_k").func)
    worst, where = 0.0, 0
    for first in range(0, (1 << 32) // step, CHUNK):
        value, at = np.zeros(1), np.zeros(1, np.int64)
        run(np.array([first]), value, at)
        if not value[0] <= worst:
            worst, where = float(value[0]), (first + int(at[0])) * step % (1 << 32)
    return worst, float(np.uint32(where).view(np.float32)).hex()


def _exact(name: str, x: Expr) -> Expr:
    if name == "sigmoid":
        return const(1.0, "f64") / (call("exp", -x) + 1.0)
    if name == "softplus":
        return maximum(x, 0.0) + call("log1p", call("exp", -unary("abs", x)))
    return 1.0 / unary("sqrt", x) if name == "rsqrt" else call(name, x)


def _error(y: Expr, exact: Expr) -> Expr:
    """|y - exact| in units of the last place; 0 of what is rounded as it should."""
    rounded = cast(exact, "f32")
    exponent = maximum((bitcast(exact, "i64") >> 52) & 0x7FF, 1023 - 126)
    unit = bitcast((exponent - 23) << 52, "f64")
    same = y.equal(rounded) | ~(y.equal(y) | rounded.equal(rounded))
    return select(same, const(0.0, "f64"), unary("abs", cast(y, "f64") - exact) / unit)


if __name__ == "__main__":
    main()

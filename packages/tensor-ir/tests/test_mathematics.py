"""Functions of f32 as arithmetic, against f64: bounds in units of the last place, special values."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from emitters import all_emitters, each_emitter

from byparts_tensor_ir.build import build
from byparts_tensor_ir.functions import call
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.schedule.schedule import Schedule
from byparts_tensor_ir.tensor import compute, placeholder

_erf = np.vectorize(math.erf, otypes=[np.float64])
BOUNDS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "exp": (1.0, np.exp),
    "expm1": (1.5, np.expm1),
    "log": (0.9, np.log),
    "log1p": (1.5, np.log1p),
    "tanh": (1.4, np.tanh),
    "sigmoid": (1.5, lambda x: 1 / (1 + np.exp(-x))),
    "softplus": (2.0, lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))),
    "erf": (1.2, _erf),
    "rsqrt": (1.5, lambda x: 1 / np.sqrt(x)),
    "sin": (1.0, np.sin),
    "cos": (1.0, np.cos),
    "tan": (1.4, np.tan),
}


def _arguments() -> Any:
    """Numbers of all exponents, those next to multiples of pi / 2, and the special ones."""
    bits = np.arange(0, 1 << 32, 40_009, dtype=np.uint64).astype(np.uint32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 1e-45, -1e-45], np.float32)
    multiples = (np.arange(1, 41_722) * (np.pi / 2)).astype(np.float32)
    return np.concatenate([bits.view(np.float32), multiples, -multiples, special])


def _results(name: str, x: Any, emitter: str) -> Any:
    a = placeholder(x.shape, "A")
    func = lower([a, compute(x.shape, lambda i: call(name, a[i]), "B")], name)
    y = np.empty_like(x)
    build(Schedule(func).vectorize("B_i").func, emitter=emitter)(x, y)
    return y


@all_emitters
@pytest.mark.parametrize("name", BOUNDS)
def test_emitters_agree_to_the_bit(name: str) -> None:
    x = _arguments()
    np.testing.assert_array_equal(_results(name, x, "c"), _results(name, x, "llvm"))


@each_emitter
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_and_special_values(name: str, emitter: str) -> None:
    bound, reference = BOUNDS[name]
    x = _arguments()
    y = _results(name, x, emitter)
    with np.errstate(all="ignore"):
        exact = reference(x.astype(np.float64))
        rounded = exact.astype(np.float32)
    finite = np.isfinite(rounded) & np.isfinite(y)
    np.testing.assert_array_equal(y[~finite], rounded[~finite])
    zero = (exact == 0) | (x == 0)
    np.testing.assert_array_equal(y[zero], rounded[zero])
    np.testing.assert_array_equal(np.signbit(y[zero & finite]), np.signbit(rounded[zero & finite]))
    assert _error(y[finite], exact[finite]) <= bound


def _error(y: Any, exact: Any) -> float:
    """The greatest, in units of the last place."""
    unit = np.spacing(np.abs(exact.astype(np.float32))).astype(np.float64)
    return float((np.abs(y.astype(np.float64) - exact) / unit).max())


@each_emitter
def test_powers(emitter: str) -> None:
    """As C has them for special numbers; others within one unit."""
    x, y = _powers()
    a, b = placeholder(x.shape, "A"), placeholder(x.shape, "B")
    func = lower([a, b, compute(x.shape, lambda i: call("pow", a[i], b[i]), "C")], "power")
    z = np.empty_like(x)
    build(Schedule(func).vectorize("C_i").func, emitter=emitter)(x, y, z)
    with np.errstate(all="ignore"):
        exact = np.power(x.astype(np.float64), y.astype(np.float64))
        rounded = exact.astype(np.float32)
    known = np.isfinite(rounded) & (rounded != 0)
    np.testing.assert_array_equal(z[~known], rounded[~known])
    np.testing.assert_array_equal(np.signbit(z[rounded == 0]), np.signbit(rounded[rounded == 0]))
    assert _error(z[known], exact[known]) <= 1


def _powers() -> tuple[Any, Any]:
    """Pairs of numbers: special ones, any two, and those whose power is no extreme."""
    special = np.array(
        [0.0, 0.5, 1.0, 2.0, 3.0, 2.5, 1e-45, 1.5e-38, 3e38, 16777215, 16777216, np.inf, np.nan],
        np.float32,
    )
    special = np.concatenate([special, -special])
    pairs = np.stack(np.meshgrid(special, special)).reshape(2, -1)
    random = np.random.default_rng(0)
    any_two = random.integers(0, 1 << 32, (2, 50_000), np.uint32).view(np.float32)
    x = random.integers(0, 0x7F800000, 50_000, np.uint32).view(np.float32)
    y = (random.uniform(-150, 128, 50_000) / np.log2(x)).astype(np.float32)
    near = np.float32(1) + random.integers(-99, 99, 50_000).astype(np.float32) * np.float32(2**-23)
    far = random.uniform(-1e7, 1e7, 50_000).astype(np.float32)
    return (
        np.concatenate([pairs[0], any_two[0], x, near]),
        np.concatenate([pairs[1], any_two[1], y, far]),
    )


FIRST = """
import numpy as np
from byparts_tensor_ir.build import build
from byparts_tensor_ir.functions import call
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.tensor import compute, placeholder
a, y = placeholder((2,), "A", "f64"), np.empty(2)
func = lower([a, compute((2,), lambda i: call("cos", a[i]), "B")], "cosines")
build(func, emitter="llvm")(np.zeros(2), y)
print(y)
"""


def test_the_first_function_of_a_process_may_call_the_c_library() -> None:
    """LLVM knows the functions of the C library once it has made something."""
    pytest.importorskip("llvmlite")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, env=env)

    assert (done.stdout, done.returncode) == ("[1. 1.]\n", 0), done.stderr

"""Emulated GPU functions against NumPy and against the interpreter."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from emitters import c_emitter
from gpu_kernels import KERNELS, bound, buffer, empty, local, put
from test_operations import casts, check, convertible, operands, rules

from byparts_gpu_ir.emit.emulate import emulate
from byparts_gpu_ir.emit.emulated import MODES, EmulatedSource
from byparts_gpu_ir.emulation import build, compiled, emulated_caller
from byparts_tensor_ir.access import EmitError
from byparts_tensor_ir.expression import BYTES, variable
from byparts_tensor_ir.interpret import interpret
from byparts_tensor_ir.statement import Barrier, For, Func, Statement


def _answers(func: Func, inputs: list[Any], mode: str) -> list[Any]:
    outputs = empty(func)
    if mode == "interpreter":
        interpret(func, *inputs, *outputs, seed=3)
    else:
        build(func, mode)(*inputs, *outputs)
    return outputs


@c_emitter
@pytest.mark.parametrize("mode", [*MODES, "interpreter"])
@pytest.mark.parametrize("name", KERNELS)
def test_an_emulated_kernel_is_numpy(name: str, mode: str) -> None:
    func, inputs, expected = KERNELS[name]()
    for got, wanted in zip(_answers(func, inputs, mode), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-6)


@pytest.mark.long
@c_emitter
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", BYTES)
def test_operations_give_the_interpreters_bits(dtype: str, mode: str) -> None:
    check(dtype, list(rules(dtype)), operands(dtype), partial(build, mode=mode))
    check(dtype, list(casts(dtype)), convertible(dtype), partial(build, mode=mode))


@c_emitter
@pytest.mark.parametrize("name", KERNELS)
def test_emulations_agree_to_the_bit(name: str) -> None:
    func, inputs, _ = KERNELS[name]()
    first, *others = [_answers(func, inputs, e) for e in MODES]
    for other in others:
        for a, b in zip(first, other, strict=True):
            np.testing.assert_array_equal(a, b)


@c_emitter
def test_many_kernels_are_one_file() -> None:
    """In all modes together; what is kept of a source calls the code again."""
    cases = [KERNELS[name]() for name in KERNELS]
    sources = [
        emulate(func, mode).renamed(f"{mode}_{func.name}")
        for func, _, _ in cases
        for mode in ("forward", "checked")
    ]
    addresses = compiled(sources)
    for source, (func, inputs, expected) in zip(sources[::2], cases, strict=True):
        outputs = empty(func)
        again = EmulatedSource.of({k: getattr(source, k) for k in source.__dataclass_fields__})
        call = emulated_caller(again, addresses[source.name])
        call([a.ctypes.data for a in (*inputs, *outputs)])
        np.testing.assert_allclose(outputs[0], expected[0], rtol=2e-5, atol=2e-6)


def test_a_loop_around_a_barrier_is_the_same_for_all() -> None:
    t = variable("t", 4)
    loop = For(variable("i", t + 1), (Barrier(),))
    func = Func("f", (), (), (), bound([loop], tx=t))
    with pytest.raises(EmitError, match=r"loop i around a meeting: threads go through it t \+ 1"):
        emulate(func)


def test_a_mode_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(EmitError, match="no mode 'backward'; one of forward, reversed, checked"):
        emulate(Func("f", (), (), (), ()), "backward")


@c_emitter
def test_names_of_c_are_no_names_of_buffers() -> None:
    """Two locals of one name, and a buffer that is called `float`."""
    x, y = buffer("float", 8), buffer("y", 8)
    a, b, t = local("v"), local("v"), variable("int", 8)
    body: list[Statement] = [
        put(a, (), x[t]),
        put(b, (), a[()] + 1.0),
        Barrier(),
        put(y, (t,), a[()] * b[()]),
    ]
    func = Func("f", (x, y), (y,), (), bound(body, tx=t), (a, b))
    given, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    build(func)(given, out)
    np.testing.assert_array_equal(out, given * (given + 1))

"""Native kernels on another CPU, and under the sanitizers of the compiler."""

from __future__ import annotations

import os
import shutil
from itertools import product
from pathlib import Path

import pytest

import byparts_opset as ops
from byparts_conformance.cases import Case
from byparts_graph_ir import Op, Sample, TensorType
from byparts_kernels_native import make
from byparts_kernels_native.backend import kernels
from byparts_tensor_ir.target import target
from elsewhere import Call, calls_of, recorded_calls, run_elsewhere

CROSS, EMULATOR = "aarch64-linux-gnu-g++", ("qemu-aarch64", "qemu-aarch64-static")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FEW: list[type[Op]] = [ops.Add, ops.CumSum, ops.Sum, ops.Cast, ops.Transpose, ops.Gather]
# A quarter of the ops: all take minutes where nothing has been compiled (`hatch run test-all-ops`).
SOME = list(kernels)[:: 1 if "BYPARTS_ALL_OPS" in os.environ else 4]
needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ on the path")


def emulator() -> str | None:
    return next(filter(None, map(shutil.which, EMULATOR)), None)


needs_cross = pytest.mark.skipif(
    shutil.which(CROSS) is None or emulator() is None,
    reason=f"needs {CROSS} and {EMULATOR[0]}: apt-get install g++-aarch64-linux-gnu qemu-user",
)


def check(calls: list[Call], folder: Path, compiler: str, *flags: str, runner: str = "") -> None:
    """Run the calls elsewhere; all must give what `evaluate` gives."""
    results = run_elsewhere(calls, folder, compiler, flags, [runner] if runner else [])
    wrong = [said for c, after in zip(calls, results, strict=True) if (said := c.wrong(after))]
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of 16 bytes, which any CPU has or the compiler takes apart."""
    monkeypatch.setenv("BYPARTS_EMITTER", "c")
    monkeypatch.setenv("BYPARTS_TARGET", "plain")
    monkeypatch.setenv("BYPARTS_CXXFLAGS", "-O0")  # here they are compiled, and not run


@needs_compiler
@needs_cross
@pytest.mark.long
def test_aarch64_some(plain: None, tmp_path: Path) -> None:
    """Some ops of each kind, of f32 and of halves, which NEON converts."""
    calls = recorded_calls(make(), FEW, ("basic", "half"))
    assert len({type(c.case.op) for c in calls}) == len(FEW)
    check(calls, tmp_path, CROSS, "-O1", "-static", runner=str(emulator()))


@needs_compiler
@needs_cross
@pytest.mark.long
def test_aarch64(plain: None, tmp_path: Path) -> None:
    """A quarter of the ops, each one function, in the kit's first column.

    `test_aarch64_some` tries halves, and code that the compiler optimizes.
    """
    calls = recorded_calls(make(), SOME)
    assert len({type(c.case.op) for c in calls}) > 15
    check(calls, tmp_path, CROSS, "-O0", "-static", runner=str(emulator()))


@needs_compiler
@pytest.mark.long
def test_sanitizers(plain: None, tmp_path: Path) -> None:
    """Nothing is read or written outside an array, and nothing is left undefined.

    On the plain target: what an instruction with a mask reads, the sanitizers do not see.
    """
    calls = recorded_calls(make(), SOME)
    calls += recorded_calls(make(), FEW, ("half",))
    assert len({type(c.case.op) for c in calls}) > 15
    check(calls, tmp_path, "g++", "-O0", *target().compiler_flags, *SANITIZERS)


@needs_compiler
@pytest.mark.parametrize("there", ["sanitizers", pytest.param("aarch64", marks=needs_cross)])
def test_products_of_few_columns(
    there: str, plain: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are larger than the samples of the kit, and have a function of their own."""
    monkeypatch.setenv("BYPARTS_MEASURE", "0")
    cases = []
    for flips in product((False, True), repeat=2):
        a, b = ((70, 37) if flips[0] else (37, 70), (10, 70) if flips[1] else (70, 10))
        types = tuple([TensorType("f32", dims) for dims in (a, b)])
        cases.append(Case(Sample(ops.MatMul(*flips), types), "basic"))
    calls = calls_of(make(), cases)
    assert len(calls) == 4 and all("narrow" in c.source.body for c in calls)
    check_there(there, calls, tmp_path)


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("there", ["sanitizers", pytest.param("aarch64", marks=needs_cross)])
def test_convolutions_by_winograd(
    there: str, plain: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples of the kit are too small for it to be chosen."""
    monkeypatch.setenv("BYPARTS_WINOGRAD", "1")
    cases = []
    for layout, r, around in (("NCHW", 3, 1), ("NHWC", 3, 0), ("NCHW", 5, 0)):
        x, w = ((2, 5, 9, 11), (7, 5, r, r))
        if layout == "NHWC":
            x, w = (2, 9, 11, 5), (r, r, 5, 7)
        op = ops.Conv2d(padding=((around, around), (around, around)), layout=layout)
        types = (TensorType("f32", x), TensorType("f32", w))
        cases.append(Case(Sample(op, types), "basic"))
        gradient = (types[0], *op.infer(*types), types[1])
        of_w = ops.Conv2dFilterGradient(padding=op.padding, layout=layout)
        cases.append(Case(Sample(of_w, gradient), "basic"))
    calls = calls_of(make(), cases)
    assert len(calls) == 6 and all("winograd" in c.source.body for c in calls)
    check_there(there, calls, tmp_path)


def check_there(there: str, calls: list[Call], folder: Path) -> None:
    if there == "aarch64":
        check(calls, folder, CROSS, "-O1", "-static", runner=str(emulator()))
    else:
        check(calls, folder, "g++", "-O0", *target().compiler_flags, *SANITIZERS)


@needs_compiler
def test_a_read_past_the_end_is_found(plain: None, tmp_path: Path) -> None:
    """The sanitizer sees the blocks of a call: one that is too small ends the program."""
    (call, *_) = recorded_calls(make(), [ops.Tanh])
    small = (call.blocks[0][:-1], *call.blocks[1:])
    bad = Call(call.case, call.source, small, call.table)
    with pytest.raises(AssertionError, match="heap-buffer-overflow"):
        check([bad], tmp_path, "g++", "-O1", *target().compiler_flags, *SANITIZERS)

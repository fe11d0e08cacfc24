"""From text to machine code: side by side, once on a machine, and what is said where it fails."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubled import add_code, adder, gpu_on

from byparts_graph_ir import BackendError, Graph, Input, TensorType
from byparts_graph_ir.backend.progress import listener
from byparts_kernels_cuda import code, compile as compilers
from byparts_kernels_cuda.driver.double import Double
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.nvrtc import Nvrtc, nvrtc
from byparts_tensor_ir import cache
from byparts_tensor_ir.compile import CompilerError

KERNEL = 'extern "C" __global__ void twice(float *x) {\n  x[threadIdx.x] *= 2.0f;\n}\n'


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Gpu:
    """On a double, with nothing compiled before."""
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    for name in ("_images", "_functions", "_waiting"):
        monkeypatch.setattr(code, name, {})
    cache._writable.cache_clear()
    return gpu_on(Double())


class Compiler:
    """Counts what it is asked to build."""

    version = "counting 1.0"

    def __init__(self) -> None:
        self.built: list[str] = []

    def build(
        self, name: str, text: str, capability: tuple[int, int], flags: Sequence[str]
    ) -> bytes:
        self.built.append(f"{name} {capability[0]}.{capability[1]}")
        return text.encode()


def test_machine_code_is_kept_by_text_and_gpu(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    counting = Compiler()
    monkeypatch.setattr(compilers, "cuda_compiler", lambda: counting)

    for capability in ((9, 0), (9, 0), (8, 0)):
        assert compilers.cubin("twice", KERNEL, capability) == KERNEL.encode()
    compilers.cubin("twice", KERNEL + "//", (9, 0))

    assert counting.built == ["twice 9.0", "twice 8.0", "twice 9.0"]


def test_all_that_wait_are_compiled_when_one_is_needed(gpu: Gpu) -> None:
    codes = [add_code(n) for n in range(1, 20)]
    code.later(codes)

    with gpu:
        code.function(gpu, codes[3])

    assert {key for _, key in code._images} == {c.key for c in codes} and not code._waiting


def test_each_kernel_that_is_compiled_is_reported(gpu: Gpu) -> None:
    """To whoever builds; here nothing is written to the terminal."""
    codes = [add_code(n) for n in range(1, 20)]
    code.later(codes)
    said: list[tuple[int, int, str]] = []
    token = listener.set(lambda *report: said.append(report))
    try:
        with gpu:
            code.function(gpu, codes[0])
    finally:
        listener.reset(token)

    assert said[0] == (0, 19, "kernels of CUDA") and said[-1] == (19, 19, "kernels of CUDA")
    assert [done for done, _, _ in said] == sorted({done for done, _, _ in said})


def test_one_that_does_not_compile_is_named_and_others_run(gpu: Gpu) -> None:
    """The compiler's words, and the lines of the source that they are about."""
    good, other = add_code(3), add_code(5)
    bad = replace(other, text=other.text.replace("x[i] + y[i]", "x[i] + q"))
    code.later([good, bad])

    with gpu:
        code.function(gpu, good)
        with pytest.raises(BackendError, match="add does not compile") as caught:
            code.function(gpu, bad)

    said = str(caught.value)
    assert "was not declared" in said or "undeclared identifier" in said
    assert "if (i < 5) z[i] = x[i] + q;" in said


def test_a_program_that_does_not_compile_says_which_op_and_line(
    gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = pytest.importorskip("byparts_runtime", reason="needs byparts-runtime")
    monkeypatch.setattr("doubled.ADD", "no C %d %d")
    x = Input(TensorType("f32", (4,)), name="x")

    with pytest.raises(BackendError, match="does not compile") as caught:
        runtime.build(Graph.of([x], [x + x]), backends=(adder(gpu),))

    notes = " ".join(getattr(caught.value, "__notes__", [str(caught.value)]))
    assert "while binding add: (f32[4], f32[4]) -> (f32[4]), created at" in notes
    assert "test_compile.py" in notes


def test_without_a_compiler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    compilers._cuda_compiler.cache_clear()
    monkeypatch.setattr(compilers, "nvrtc", lambda: None)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("BYPARTS_CUDA_COMPILER", raising=False)

    with pytest.raises(CompilerError, match=r"no compiler of CUDA C: pip install .*\[nvrtc\]"):
        compilers.cuda_compiler()
    compilers._cuda_compiler.cache_clear()


def test_another_compiler_than_there_are_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CUDA_COMPILER", "clang")

    with pytest.raises(CompilerError, match='BYPARTS_CUDA_COMPILER=clang: "nvrtc", "nvcc"'):
        compilers.cuda_compiler()


def real_compilers() -> list[Any]:
    """Those of this machine."""
    found: list[Any] = [pytest.param(None, marks=pytest.mark.skip(reason="needs NVRTC or nvcc"))]
    path = shutil.which("nvcc")
    made = [*([compilers.Nvcc(path)] if path else []), *([nvrtc()] if nvrtc() else [])]
    return made or found


@pytest.mark.parametrize("compiler", real_compilers(), ids=lambda c: type(c).__name__)
def test_a_compiler_makes_machine_code_and_says_what_is_wrong(compiler: Any) -> None:
    """For GPUs of two kinds; machine code begins as an ELF file does."""
    for capability in ((8, 0), (9, 0)):
        code = compiler.build("twice", KERNEL, capability, compilers.FLAGS)
        assert code[:4] == b"\x7fELF" and b"twice" in code

    with pytest.raises(CompilerError, match=r"twice.cu\(2\): .*\"y\" is undefined"):
        compiler.build("twice", KERNEL.replace("x[", "y["), (9, 0), compilers.FLAGS)


@pytest.mark.skipif(nvrtc() is None, reason="needs NVRTC")
def test_a_gpu_newer_than_the_library_gets_ptx() -> None:
    library = nvrtc()
    assert isinstance(library, Nvrtc)

    text = library.build("twice", KERNEL, (99, 0), compilers.FLAGS)

    assert f".target sm_{library.newest}".encode() in text


def test_the_text_of_a_kernel_is_kept_on_the_disk(gpu: Gpu) -> None:
    """It is made again where nothing is there, or where it is damaged."""
    from byparts_gpu_ir.launches import Launches
    from byparts_kernels_cuda.launch import launched
    from byparts_kernels_cuda.products.matmul import matmul_launches
    from byparts_opset import MatMul

    made: list[int] = []

    def make() -> Launches:
        made.append(1)
        return matmul_launches(MatMul(), [TensorType("f32", (4, 4))] * 2)

    with adder(gpu).around() as _:  # type: ignore[misc]  # its context is not None
        first = launched(b"key", make, 2)
        second = launched(b"key", make, 2)
        for path in cache.cache_directory().glob("*.json"):
            path.write_text("damaged")
        third = launched(b"key", make, 2)

    assert len(made) == 2 and first.source == second.source == third.source != ""


def test_a_refused_source_is_kept_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not under a name in the folder of all users that somebody could have made a link of."""
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    error = compilers.explained("kernel", "line 1\nline 2\n", "x.cu(2): error")
    (kept,) = (tmp_path / "cache").glob("*.cu")

    assert str(kept) in str(error) and kept.read_text() == "line 1\nline 2\n"
    assert kept.stat().st_mode & 0o777 == 0o600 and os.listdir(tmp_path) == ["cache"]


def test_a_compiler_that_speaks_latin_is_told(tmp_path: Path) -> None:
    (fake := tmp_path / "nvcc").write_text('#!/bin/sh\nprintf "d\\351faut" >&2\nexit 1\n')
    fake.chmod(0o700)

    with pytest.raises(CompilerError, match="d\ufffdfaut"):
        compilers._run([str(fake)])

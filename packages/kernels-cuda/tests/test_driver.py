"""Calls of the driver: errors with its words; and what its double refuses, as a GPU does or more."""

from __future__ import annotations

import re
from ctypes import byref, c_int, c_uint64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubled import add_code, gpu_on

from byparts_graph_ir import ArgumentError, GraphError, TensorType
from byparts_kernels_cuda.driver import api
from byparts_kernels_cuda.driver.api import Driver
from byparts_kernels_cuda.driver.double import Double
from byparts_kernels_cuda.driver.errors import DeviceLost, DriverError
from byparts_kernels_cuda.driver.functions import FUNCTIONS
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.launch import bound
from byparts_kernels_cuda.memory import DeviceArray, array
from byparts_kernels_cuda.space import CudaSpace

KIND = TensorType("f32", (64,))


@pytest.fixture
def double() -> Double:
    return Double()


@pytest.fixture
def gpu(double: Double) -> Gpu:
    return gpu_on(double)


def three(gpu: Gpu, *starts: int) -> list[DeviceArray]:
    """Arrays of 64 floats that begin at these bytes of one block."""
    block = CudaSpace(gpu).allocate(1024)
    return [array(block, start, KIND, gpu) for start in starts]


def launched(gpu: Gpu, arrays: list[DeviceArray], *, aliased: bool = False) -> None:
    """Launch z = x + y and wait."""
    run = bound((add_code(64, aliased=aliased),), arrays[:2], arrays[2:], None)
    with gpu:
        run()
        gpu.wait()


def test_a_status_is_an_error_with_the_words_of_the_driver(double: Double) -> None:
    driver = Driver(double)

    with pytest.raises(DriverError, match=r"cuDeviceGet failed with 101, .*: no device 7"):
        driver.number("cuDeviceGet", 7)


def test_a_lost_gpu_says_what_to_do_and_stays_lost(double: Double, gpu: Gpu) -> None:
    double.refuse("cuStreamSynchronize", status=700)

    for _ in range(2):
        with pytest.raises(DeviceLost, match=r"ILLEGAL_ADDRESS.*restart the process"), gpu:
            gpu.wait()


def test_only_known_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CUDA", "emulate")

    with pytest.raises(ArgumentError, match="BYPARTS_CUDA=emulate: one of emulated, reversed"):
        api.driver()


def test_without_a_driver_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BYPARTS_CUDA", raising=False)
    monkeypatch.setattr(api, "LIBRARY", "libnosuchdriver.so.1")
    monkeypatch.setattr(api, "_known", {})

    with pytest.raises(RuntimeError, match=r"no NVIDIA driver on this machine \(libnosuchdriver"):
        api.driver()


HEADERS = [p for p in map(Path, ("/usr/local/cuda/include/cuda.h",)) if p.exists()]


@pytest.mark.skipif(not HEADERS, reason="needs cuda.h")
def test_each_function_has_as_many_arguments_as_the_header_says() -> None:
    header = HEADERS[0].read_text()
    declared = {
        name: 0 if arguments.strip() == "void" else arguments.count(",") + 1
        for name, arguments in reversed(
            re.findall(r"CUresult CUDAAPI (\w+)\(([^)]*)\)", header)  # older ones stand below
        )
    }

    renamed = dict(re.findall(r"#define (\w+) +(?:__CUDA_API_PTSZ\()?(\w+)", header))

    ours = {name: len(types) for name, types in FUNCTIONS.items()}

    counts = {renamed.get(name, name): count for name, count in declared.items()}
    assert ours == {name: {**declared, **counts}[name] for name in ours}


# -- what the double refuses ----------------------------------------------------------------------


def test_nothing_works_before_init(double: Double) -> None:
    assert double.cuDeviceGetCount(byref(c_int())) == 3  # CUDA_ERROR_NOT_INITIALIZED


def test_nothing_is_allocated_without_a_context(double: Double) -> None:
    driver = Driver(double)

    with pytest.raises(DriverError, match=r"201, .*no context is current"):
        driver.cuMemAlloc_v2(byref(c_uint64()), 8)


def test_a_kernel_computes(gpu: Gpu) -> None:
    x, y, z = three(gpu, 0, 256, 512)
    CudaSpace(gpu).write(x, 0, b"\0\0\x80\x3f" * 64)  # ones
    CudaSpace(gpu).write(y, 0, b"\0\0\0\x40" * 64)  # twos

    launched(gpu, [x, y, z])

    assert CudaSpace(gpu).read(z, 0, 256) == b"\0\0\x40\x40" * 64


def test_work_waits_until_somebody_waits_for_it(gpu: Gpu) -> None:
    x, y, z = three(gpu, 0, 256, 512)
    with gpu:
        bound((add_code(64),), [x, y], [z], None)()
    before = gpu.driver.library.machine.streams[0].others[0].todo

    assert len(before) == 2  # clearing the block, and the launch
    with gpu:
        gpu.wait()
    assert not before


@pytest.mark.parametrize(
    ("starts", "said"),
    [
        ((0, 256, 832), "ILLEGAL_ADDRESS.* z of 256 bytes at .* is in no memory"),
        ((0, 256, 128), "add: z, which is written, overlaps x"),
        ((0, 256, 0), "add: z, which is written, overlaps x"),
    ],
)
def test_wrong_arguments_are_found(gpu: Gpu, starts: tuple[int, ...], said: str) -> None:
    arrays = three(gpu, *starts)

    with pytest.raises(DriverError, match=said):
        launched(gpu, arrays)


def test_an_array_at_an_odd_byte_is_refused_before_a_launch(gpu: Gpu) -> None:
    with pytest.raises(GraphError, match=r"f32\[64\] begins 4 bytes after a multiple of 32"):
        launched(gpu, three(gpu, 0, 256, 516))


def test_the_double_finds_a_misaligned_argument(gpu: Gpu) -> None:
    """Of a workspace, which is no array of a caller."""
    code = add_code(64)
    code = replace(
        code, arguments=(*code.arguments[:2], replace(code.arguments[2], at=4, in_workspace=True))
    )
    x, y, z = three(gpu, 0, 256, 512)
    run = bound((code,), [x, y], [], z)
    said = "MISALIGNED_ADDRESS.* z of 256 bytes at .* is not aligned to 32 bytes"
    with gpu:
        run()
        with pytest.raises(DriverError, match=said):
            gpu.wait()


def test_what_may_be_one_array_may(gpu: Gpu) -> None:
    x, y, z = three(gpu, 0, 256, 0)

    launched(gpu, [x, y, z], aliased=True)


def test_memory_that_was_freed_is_no_memory(gpu: Gpu) -> None:
    arrays = three(gpu, 0, 256, 512)
    gpu.release("cuMemFree_v2", arrays[0].memory.address)
    arrays[0].memory.owner = "freed"

    with pytest.raises(DeviceLost, match=r"x of 256 bytes at .* is in no memory"):
        launched(gpu, arrays)


def test_a_launch_of_another_shape_is_refused(gpu: Gpu) -> None:
    arrays = three(gpu, 0, 256, 512)
    run: Any = bound((add_code(64),), arrays[:2], arrays[2:], None)
    function, _, *rest = run.args

    with pytest.raises(DriverError, match=r"launched with \(\(3, 1, 1\).*made for"), gpu:
        run.func(function, 3, *rest)


def test_memory_of_another_gpu_is_out_of_reach(double: Double, gpu: Gpu) -> None:
    other = gpu_on(double, 1)
    x, y = three(gpu, 0, 256)
    (z,) = three(other, 0)

    with pytest.raises(DeviceLost, match=r"z of 256 bytes at .* is memory of device 1"):
        launched(gpu, [x, y, z])


def test_a_handle_of_another_gpu_is_refused(double: Double, gpu: Gpu) -> None:
    other = gpu_on(double, 1)

    with pytest.raises(DriverError, match="a stream of another GPU"), gpu:
        gpu.driver.cuStreamSynchronize(other.stream)


def test_a_write_beyond_a_block_is_found_when_it_is_freed(gpu: Gpu) -> None:
    block = CudaSpace(gpu).allocate(100)
    double_block = gpu.driver.library.machine.memories.find(block.address)
    c_uint64.from_address(double_block.end).value = 0

    block.owner = "freed"
    with pytest.raises(DriverError, match="the margin of a block of 100 bytes was written"):
        gpu.release("cuMemFree_v2", block.address)


def test_nothing_is_allocated_while_a_stream_records(gpu: Gpu) -> None:
    with gpu:
        gpu.begin_recording()
        with pytest.raises(DriverError, match=r"900, .*cuMemAlloc_v2 while a stream captures"):
            gpu.allocate(8)
        with pytest.raises(DriverError, match=r"901, .*something forbidden"):
            gpu.end_recording()


def test_what_is_freed_while_a_stream_records_is_freed_after(double: Double, gpu: Gpu) -> None:
    block = CudaSpace(gpu).allocate(8)
    with gpu:
        gpu.begin_recording()
        del block
        assert double.alive()["memory"] == 1
        gpu.driver.cuGraphDestroy(gpu.end_recording())

    assert double.alive()["memory"] == 0


def test_fresh_memory_is_not_zero(gpu: Gpu) -> None:
    block = CudaSpace(gpu).untouched(8)

    assert CudaSpace(gpu).read(block, 0, 8) != bytes(8)

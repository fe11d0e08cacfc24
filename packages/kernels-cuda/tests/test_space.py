"""The memory of a GPU: what is copied and when, who owns it, how it ends, other libraries' arrays."""

from __future__ import annotations

import ctypes
import gc
import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from doubled import gpu_on

from byparts_graph_ir import GraphError, ShapeError, TensorType
from byparts_kernels_cuda.driver.double import Double
from byparts_kernels_cuda.driver.errors import DeviceMemoryError, DriverError
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.memory import DeviceArray, array
from byparts_kernels_cuda.space import _STAGING_BYTES, CudaSpace


@pytest.fixture
def double() -> Double:
    return Double(memory_bytes=1 << 26)


@pytest.fixture
def gpu(double: Double) -> Gpu:
    return gpu_on(double)


@pytest.fixture
def space(gpu: Gpu) -> CudaSpace:
    return CudaSpace(gpu)


def test_new_memory_is_zero(space: CudaSpace) -> None:
    assert space.read(space.allocate(1000), 0, 1000) == bytes(1000)


@pytest.mark.parametrize("size", [0, 1, 1000, _STAGING_BYTES + 3])
def test_bytes_come_back(space: CudaSpace, size: int) -> None:
    data = np.random.default_rng(0).integers(0, 256, size, np.uint8).tobytes()
    memory = space.allocate(size + 16)

    space.write(memory, 16, data)

    assert space.read(memory, 16, size) == data


def test_what_is_given_may_be_changed_at_once(space: CudaSpace) -> None:
    """A copy from pinned memory happens later; the next one must not fill that memory before."""
    memory = space.allocate(8)
    for i in range(4):
        data = bytearray([i, i])
        space.write(memory, 2 * i, memoryview(data))
        data[:] = b"xx"

    assert space.read(memory, 0, 8) == bytes([0, 0, 1, 1, 2, 2, 3, 3])


def test_a_writer_waits_for_its_last_copy(space: CudaSpace) -> None:
    kind = TensorType("f32", (2,))
    memory = space.allocate(16)
    first, second = space.writer(memory, 0, kind), space.writer(memory, 8, kind)
    value = np.ones(2, np.float32)

    first(value)
    value[:] = 2
    second(value)
    first(value)

    assert np.frombuffer(space.read(memory, 0, 16), np.float32).tolist() == [2, 2, 2, 2]


def test_out_of_memory_says_what_was_asked_for_and_what_is_free(space: CudaSpace) -> None:
    kept = space.allocate(1 << 25)
    said = "cuda:0: 67,108,864 bytes were asked for, and 33,554,432 of 67,108,864 are free"

    with pytest.raises(DeviceMemoryError, match=said):
        space.allocate(1 << 26)
    del kept


def test_another_failure_of_allocation_is_no_lack_of_memory(
    double: Double, space: CudaSpace
) -> None:
    double.refuse("cuMemAlloc_v2", status=999)

    with pytest.raises(DriverError, match="cuMemAlloc_v2 failed with 999"):
        space.allocate(8)


def test_memory_is_freed_with_its_last_user(double: Double, space: CudaSpace) -> None:
    memory = space.allocate(8)
    view = array(memory, 0, TensorType("f32", (2,)), space.gpu)
    del memory
    assert double.alive()["memory"] == 1

    del view
    assert double.alive()["memory"] == 0


def test_two_gpus_have_two_memories(double: Double) -> None:
    first, second = (CudaSpace(gpu_on(double, i)) for i in (0, 1))
    a, b = first.allocate(4), second.allocate(4)
    first.write(a, 0, b"1111")
    second.write(b, 0, b"2222")

    assert (first.name, second.name) == ("cuda:0", "cuda:1")
    assert [bytes(s.read(m, 0, 4)) for s, m in ((first, a), (second, b))] == [b"1111", b"2222"]


def test_there_is_no_third_gpu(double: Double) -> None:
    with pytest.raises(RuntimeError, match="no cuda:2: the driver finds 2"):
        gpu_on(double, 2)


def test_threads_share_a_gpu(space: CudaSpace) -> None:
    def work(i: int) -> bool:
        memory = space.allocate(4096)
        space.write(memory, 0, bytes([i]) * 4096)
        return space.read(memory, 0, 4096) == bytes([i]) * 4096

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(40)))


def _in_child(space: CudaSpace, memory: Any, answers: Any) -> None:
    def said(call: Any) -> str:
        try:
            call()
        except GraphError as error:
            return str(error)
        return "nothing"

    calls = (lambda: space.allocate(4), lambda: space.read(memory, 0, 4), space.synchronize)
    answers.put([said(call) for call in calls])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_told_that_there_is_no_gpu_for_it(
    double: Double, space: CudaSpace
) -> None:
    context: Any = multiprocessing.get_context("fork")
    answers, memory = context.Queue(), space.allocate(4)
    child = context.Process(target=_in_child, args=(space, memory, answers))
    child.start()

    said = answers.get(timeout=60)

    child.join()
    assert all("cuda:0: this process was forked" in text and "spawn" in text for text in said)
    assert space.read(memory, 0, 4) == bytes(4)  # the parent's is as it was


def test_a_child_frees_nothing_of_its_parent(space: CudaSpace) -> None:
    memory = space.allocate(4)
    space.gpu.process += 1  # as in a child
    del memory
    space.gpu.process -= 1

    assert space.gpu.driver.library.alive()["memory"] == 1


# -- arrays of other libraries --------------------------------------------------------------------


class Tensor:
    """Of another library, on a GPU: gives what `DeviceArray` gives."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array
        self.asked: dict[str, Any] = {}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()

    def __dlpack__(self, **asked: Any) -> Any:
        self.asked = asked
        return self.array.__dlpack__()


def test_an_array_of_another_library_is_adopted_where_it_is(space: CudaSpace) -> None:
    kind = TensorType("bf16", (3, 2))
    theirs = Tensor(array(space.allocate(64), 16, kind, space.gpu))

    adopted = space.adopt(theirs)

    assert adopted is not None
    assert (adopted[0].address, adopted[1]) == (theirs.array.address, kind)
    assert theirs.asked == {"stream": space.gpu.stream}  # it makes that stream wait for it


def test_an_adopted_array_lives_as_long_as_its_memory_is_used(
    double: Double, space: CudaSpace
) -> None:
    theirs = Tensor(array(space.allocate(64), 0, TensorType("f32", (2,)), space.gpu))
    adopted = space.adopt(theirs)
    del theirs
    gc.collect()
    assert double.alive()["memory"] == 1

    del adopted
    gc.collect()
    assert double.alive()["memory"] == 0


def test_what_is_elsewhere_is_not_adopted(double: Double, space: CudaSpace) -> None:
    other = CudaSpace(gpu_on(double, 1))
    theirs = Tensor(array(other.allocate(64), 0, TensorType("f32", (2,)), other.gpu))

    assert space.adopt(theirs) is None and space.adopt(np.ones(2)) is None


def test_strides_and_dtypes_that_we_do_not_have_are_refused(space: CudaSpace) -> None:
    theirs = Tensor(array(space.allocate(64), 0, TensorType("f32", (2, 2)), space.gpu))
    from byparts_kernels_cuda import dlpack

    capsule = theirs.array.__dlpack__()
    tensor = ctypes.cast(dlpack._pointer(capsule, b"dltensor"), ctypes.POINTER(dlpack._Managed))
    theirs.__dlpack__ = lambda **_: capsule  # type: ignore[method-assign]
    type(theirs).__dlpack__ = lambda self, **_: capsule  # type: ignore[method-assign]
    strides = (ctypes.c_int64 * 2)(1, 2)
    tensor.contents.tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
    with pytest.raises(GraphError, match=r"strides \(1, 2\): make it contiguous"):
        space.adopt(theirs)

    tensor.contents.tensor.code = 5  # complex
    with pytest.raises(ShapeError, match="elements of code 5 and bits 32 are none of our dtypes"):
        space.adopt(theirs)


def test_ours_is_given_with_its_address(space: CudaSpace) -> None:
    x = array(space.allocate(64), 16, TensorType("i32", (2, 3)), space.gpu)

    given = x.__cuda_array_interface__

    assert (given["data"], given["shape"], given["typestr"]) == ((x.address, False), (2, 3), "<i4")


def test_a_copy_on_the_gpu(space: CudaSpace) -> None:
    kind = TensorType("f32", (2,))
    memory = space.allocate(16)
    space.write(memory, 0, b"abcdefgh")
    x, y = (array(memory, at, kind, space.gpu) for at in (0, 8))

    y[...] = x

    assert bytes(space.read(memory, 8, 8)) == b"abcdefgh"
    with pytest.raises(GraphError, match=r"only y\[...\] = x copies"):
        y[0] = x

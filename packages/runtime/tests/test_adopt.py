"""Variables in memory of the caller's, without a copy."""

from __future__ import annotations

import gc
import mmap
import weakref
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from far_backend import Adopting, Memory
from toy_backend import add, build_by_hand, f32, given, graph_of

from byparts_graph_ir import ArgumentError, GraphError, ShapeError
from byparts_runtime import Store, Variable


def counting(v: Variable, commit: str = "copy") -> Any:
    """A program that adds the variable's value to itself."""
    x = given(v.name, *v.shape)
    return build_by_hand(graph_of([x], x, add(x, x)), variables=(v,), updates=(v,), commit=commit)


@pytest.mark.parametrize("commit", ["copy", "auto"])
def test_a_program_writes_into_the_adopted_array(commit: str) -> None:
    array = np.ones(2, np.float32)
    v = Variable.adopt("v", array)
    program = counting(v, commit)

    program()
    array += 1

    assert array.tolist() == v.read().tolist() == [3, 3]
    assert program()[0].tolist() == [3, 3] and array.tolist() == [6, 6]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (1, 2, 3)])
def test_every_type_is_adopted(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.ones(shape, dtype)
    v = Variable.adopt("v", array)

    v.write(np.zeros(shape, dtype))

    assert (v.read().dtype, v.shape) == (array.dtype, shape)
    assert not array.any()


def test_bf16_is_adopted() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    array = np.ones(3, ml_dtypes.bfloat16)
    v = Variable.adopt("v", array)
    v.write(array * 2)

    assert str(v.type) == "bf16[3]" and array.tolist() == [2, 2, 2]


def test_a_part_of_an_array_is_adopted_if_it_is_contiguous() -> None:
    """And two parts that do not overlap by two variables."""
    whole = np.zeros((4, 2), np.float32)
    store = Store()
    a, b = store.adopt("a", whole[:2]), store.adopt("b", whole[2:])
    a.write(np.ones((2, 2), np.float32))
    b.write(np.full((2, 2), 2, np.float32))

    assert whole[:, 0].tolist() == [1, 1, 2, 2]
    assert [v.name for v in store] == ["a", "b"] and a.lock is b.lock is store.lock


def test_two_variables_never_have_the_same_bytes() -> None:
    """Until the first one is gone."""
    array = np.zeros(4, np.float32)
    first = Variable.adopt("first", array)
    for overlapping in (array, array[1:], array[:1], array[3:].view("i4")):
        with pytest.raises(GraphError, match="variable 'x': bytes of the array are those of vari"):
            Variable.adopt("x", overlapping)
    del first
    gc.collect()

    assert Variable.adopt("x", array).read().tolist() == [0] * 4


def _read_only() -> Any:
    array = np.zeros(2, np.float32)
    array.flags.writeable = False
    return array


REFUSED: dict[str, tuple[Any, str]] = {
    "strided": (
        np.zeros((4, 3), np.float32).T,
        r"of shape \(3, 4\) has strides \(4, 12\) and is not contiguous, so it cannot be adopted; V",
    ),
    "reversed": (np.zeros(3, np.float32)[::-1], r"has strides \(-4,\)"),
    "read-only": (_read_only(), "the array is read-only, so it cannot be adopted"),
    "misaligned": (
        np.zeros(9, np.uint8)[1:].view("f4"),
        "the array begins 1 bytes after a multiple of 4, so",
    ),
    "of bytes": (np.frombuffer(bytearray(8), "f4"), "memory of the array belongs to a bytearray"),
    "broadcast": (np.broadcast_to(np.zeros(1, "f4"), (2,)), r"strides \(0,\)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_adopted_says_why(case: str) -> None:
    array, message = REFUSED[case]
    with pytest.raises(GraphError, match=rf"variable 'v': .*{message}"):
        Variable.adopt("v", array)


def test_what_is_no_array_of_ours_is_refused() -> None:
    for value in (1.5, [1.0], np.float32(1), None):
        with pytest.raises(ShapeError, match=r"variable 'v': \w+ .* is no array to adopt"):
            Variable.adopt("v", value)
    with pytest.raises(ShapeError, match=r"'>f4'.* is not in this machine's byte order"):
        Variable.adopt("v", np.zeros(2, ">f4"))
    with pytest.raises(ShapeError, match=r"unknown dtype dtype\('complex64'\)"):
        Variable.adopt("v", np.zeros(2, "c8"))
    with pytest.raises(ShapeError, match="variable 'v': a masked array"):
        Variable.adopt("v", np.ma.zeros(2, np.float32))
    with pytest.raises(ShapeError, match=r"variable 'v': Variable Variable\('w', f32\[2\]\) is"):
        Variable.adopt("v", Variable("w", f32(2)))
    with pytest.raises(ArgumentError, match=r"Variable\.adopt: space is None; it takes Space"):
        Variable.adopt("v", np.zeros(2), space=None)  # type: ignore[arg-type]


def test_memory_of_several_processes_is_refused(tmp_path: Path) -> None:
    """A forked child would write its parent's variables."""
    with open(tmp_path / "file", "w+b") as file:
        file.truncate(64)
        mapped = np.memmap(file, np.float32, "r+")
        with pytest.raises(GraphError, match="belongs to a mmap"):
            Variable.adopt("v", mapped)
    anonymous = np.frombuffer(mmap.mmap(-1, 64), np.float32)
    with pytest.raises(GraphError, match="belongs to a mmap"):
        Variable.adopt("v", anonymous)
    shared = shared_memory.SharedMemory(create=True, size=64)
    try:
        array: Any = np.ndarray((4,), np.float32, shared.buf)
        with pytest.raises(GraphError, match="belongs to a mmap"):
            Variable.adopt("v", array)
        del array
    finally:
        shared.close()
        shared.unlink()


def test_the_array_lives_as_long_as_the_variable() -> None:
    array = np.ones(1000, np.float32)
    gone = weakref.ref(array)
    v = Variable.adopt("v", array)
    del array
    gc.collect()

    assert gone() is not None and v.read().sum() == 1000
    del v
    gc.collect()
    assert gone() is None


def test_a_name_that_is_taken_adopts_nothing() -> None:
    store, array = Store(), np.zeros(2, np.float32)
    store.create("v", f32(2))
    with pytest.raises(GraphError, match=r"variable 'v' exists already, as f32\[2\]"):
        store.adopt("v", array)

    assert store.adopt("w", array).read().tolist() == [0, 0]


def test_tensors_of_torch_are_adopted() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    tensor = torch.ones(3, dtype=torch.bfloat16)
    v = Variable.adopt("v", tensor)
    v.write(tensor * 3)

    assert str(v.type) == "bf16[3]" and tensor.tolist() == [3, 3, 3]
    with pytest.raises(GraphError, match="memory of the array belongs to a Tensor"):
        Variable.adopt("w", torch.zeros(2).numpy())
    with pytest.raises(GraphError, match="other processes share its memory"):
        Variable.adopt("w", torch.zeros(2).share_memory_())
    with pytest.raises(GraphError, match=r"Tensor gives no array: .*detach\(\)"):
        Variable.adopt("w", torch.zeros(2, requires_grad=True))
    with pytest.raises(GraphError, match=r"has strides \(4, 8\)"):
        Variable.adopt("w", torch.zeros(3, 2).T)


def test_memory_of_another_space_is_adopted_there() -> None:
    """And an array of the host is not."""
    space, memory = Adopting(), Memory(8)
    v = Variable.adopt("v", (memory, f32(2)), space=space)
    v.write(np.ones(2, np.float32))
    space.synchronize()

    assert np.frombuffer(memory.bytes, np.float32).tolist() == [1, 1]
    with pytest.raises(GraphError, match="the array is in host memory, the variable in far:0; Var"):
        Variable.adopt("w", np.ones(2, np.float32), space=space)

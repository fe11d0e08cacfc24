"""The value of a variable without a copy, for whoever reads it; and its version."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from far_backend import far_backend
from processes import LIMIT_S, forked, needs_fork
from toy_backend import add, build_by_hand, f32, given, graph_of, mul

from byparts_graph_ir import GraphError, ShapeError, TensorType, fork
from byparts_runtime import Store, Variable


class OldConsumer:
    """Hides from a producer that there are versions."""

    def __init__(self, producer: Any) -> None:
        self.producer = producer

    def __dlpack__(self) -> Any:
        return self.producer.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.producer.__dlpack_device__()


def test_a_view_sees_later_updates_and_cannot_be_written() -> None:
    v = Variable("v", np.ones((2, 2), np.float32))
    seen = v.lend()
    v.write(np.full((2, 2), 5, np.float32))

    assert seen.tolist() == [[5, 5], [5, 5]]
    assert np.shares_memory(seen, v.lend())
    with pytest.raises(ValueError, match="read-only"):
        seen[:] = 1
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
        seen[:].flags.writeable = True


def test_a_view_keeps_the_memory_alive() -> None:
    for size in (4, 100_000):  # of the heap; a mapping
        seen = Variable("v", np.full(size, 3, np.float32)).lend()
        gc.collect()
        _ = [np.zeros(size, np.float32) for _ in range(10)]

        assert (seen == 3).all()


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0)])
def test_every_type_is_lent(dtype: str, shape: tuple[int, ...]) -> None:
    v = Variable("v", TensorType(dtype, shape))
    v.write(np.ones(shape, v.dtype))

    for seen in (v.lend(), np.from_dlpack(v), np.from_dlpack(OldConsumer(v))):  # type: ignore[arg-type]
        assert (seen.dtype, seen.shape, seen.tolist()) == (v.dtype, shape, v.read().tolist())


def test_bf16_is_lent() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="needs ml_dtypes")
    v = Variable("v", np.arange(3).astype(ml_dtypes.bfloat16))

    assert v.lend().tolist() == [0, 1, 2]


def test_dlpack_says_that_it_is_read_only_to_those_who_ask() -> None:
    v = Variable("v", np.ones(2, np.float32))
    seen = np.from_dlpack(v)
    v.write([3, 3])

    assert seen.tolist() == [3, 3]
    if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1):
        assert not seen.flags.writeable
        assert np.from_dlpack(v, copy=True).flags.writeable
    with pytest.raises(BufferError, match="variable 'v' is in host memory, which has no streams"):
        v.__dlpack__(stream=7)  # type: ignore[arg-type]
    with pytest.raises(BufferError, match=r"dl_device=\(2, 0\)"):
        v.__dlpack__(dl_device=(2, 0))


def test_torch_sees_the_value() -> None:
    """Also bf16, and after the variable is gone."""
    torch = pytest.importorskip("torch", reason="needs torch")
    for dtype in ("f32", "bf16", "i64", "bool"):
        v = Variable("v", TensorType(dtype, (3,)))
        seen = torch.from_dlpack(v)
        v.write([True, False, True] if dtype == "bool" else [1, 2, 3])

        assert seen.dtype == v.read("torch").dtype and seen.equal(v.read("torch"))
        copied = torch.from_dlpack(v, copy=True)
        v.write([False] * 3 if dtype == "bool" else [0] * 3)
        assert copied.any() and not seen.any()
    del v
    gc.collect()
    assert not seen.any()


def test_a_lent_array_is_not_adopted() -> None:
    """By no way around: torch does not know that it is read-only."""
    v = Variable("v", np.ones(3, np.float32))
    with pytest.raises(GraphError, match="the array is read-only"):
        Variable.adopt("w", v.lend())
    torch = pytest.importorskip("torch", reason="needs torch")
    with pytest.raises(GraphError, match="are those of variable 'v' already"):
        Variable.adopt("w", torch.from_dlpack(v))


def test_only_host_memory_is_lent() -> None:
    v = Variable("v", np.ones(2, np.float32), space=far_backend().space)
    for ask in (v.lend, v.__dlpack_device__, v.__dlpack__, lambda: np.from_dlpack(v)):
        with pytest.raises(GraphError, match="variable 'v' is in far:0, and only host memory is"):
            ask()
    w = Variable("w", v)  # type: ignore[arg-type]  # an array by its methods
    assert w.read().tolist() == [1, 1]


def test_the_version_grows_with_each_write() -> None:
    v = Variable("v", np.ones(2, np.float32))
    assert v.version == 0
    v.write([1, 1])
    assert v.version == 1
    with pytest.raises(ValueError, match="f32"):
        v.write([1.0, 2.0, 3.0])
    assert v.version == 1
    next(v.counter)
    assert v.version == 2
    v.read(), v.lend()
    assert v.version == 2
    with pytest.raises(AttributeError):
        v.version = 0  # type: ignore[misc]


def test_equal_versions_mean_equal_values() -> None:
    """While threads write; read with the lock held."""
    v = Variable("v", np.zeros(1000, np.float32))
    seen = v.lend()

    def write(number: int) -> None:
        v.write(np.full(1000, number, np.float32))

    def look(_: int) -> bool:
        with v.lock:
            before, value = v.version, seen.copy()
            return v.version == before and (value == value[0]).all() and (value == seen).all()

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, n) for n in range(100)]
        looks = list(pool.map(look, range(100)))
        assert all(looks)
    assert v.version == len(writing)


@needs_fork
def test_a_child_lends_memory_of_its_own() -> None:
    """Its view sees its own writes, and the parent's none of them."""
    v = Variable("v", np.ones(50_000, np.float32))
    adopted = Variable.adopt("a", np.ones(4, np.float32))
    seen = v.lend()

    def use() -> list[Any]:
        v.write(np.full(50_000, 2, np.float32))
        adopted.write([7, 7, 7, 7])
        return [v.version, np.unique(seen).tolist(), adopted.lend().tolist()]

    assert forked(use) == [[1, [2.0], [7.0] * 4]]
    assert (v.version, seen[0], adopted.lend().tolist()) == (0, 1, [1] * 4)


@needs_fork
def test_what_is_not_known_is_not_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a child whose parent was writing; it is, once the child has written it."""
    monkeypatch.setattr(fork, "PATIENCE_S", 0.0)
    v = Variable("v", np.ones(2, np.float32))
    begun, done = Event(), Event()

    def write() -> None:
        with v.lock:
            fork.begin(v, (v,))
            begun.set()
            done.wait(LIMIT_S)
            fork.end(v)

    def use() -> list[Any]:
        for ask in (v.lend, v.__dlpack__, v.check_known):
            with pytest.raises(GraphError, match="'v' was being written by another thread"):
                ask()
        v.write([5, 5])
        v.check_known()
        return [v.lend().tolist(), np.from_dlpack(v).tolist()]

    thread = Thread(daemon=True, target=write)
    thread.start()
    begun.wait(LIMIT_S)
    answers = forked(use)
    done.set()
    thread.join(LIMIT_S)

    assert answers == [[[5.0, 5.0]] * 2] and v.lend().tolist() == [1, 1]


def test_a_variable_is_fed_as_a_copy() -> None:
    """Fed, it is copied while its lock is held."""
    store = Store()
    v = store.create("v", f32(2))
    v.write([2, 3])
    x = given("x", 2)
    program = build_by_hand(graph_of([x], mul(x, x)))

    assert program(v)[0].tolist() == [4, 9]
    with pytest.raises(ShapeError, match=r"bind: feed 'x' is no array: Variable Variable\('v'"):
        program.bind(v)


def test_a_program_that_updates_a_variable_counts() -> None:
    """One more at each run that does not fail."""
    store = Store()
    v, w = store.create("v", f32(2)), store.create("w", f32(2))
    old = given("v", 2)
    program = build_by_hand(graph_of([old], add(old, old)), variables=(v,), updates=(v,))
    for _ in range(3):
        program()

    assert (v.version, w.version) == (3, 0)

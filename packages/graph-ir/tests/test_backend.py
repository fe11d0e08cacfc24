"""A backend is two tables and a view."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from ctypes import addressof, c_char
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from processes import forked, needs_fork
from toy_ops import Add, Neg, given, neg

from byparts_graph_ir import HOST, Backend, BackendError, GraphError, MissingRule, TensorType


def view(memory: Any, offset: int, type: TensorType) -> Any:
    return memoryview(memory)[offset : offset + type.size_bytes].cast("f")


def test_host_memory_is_zeroed_writable_and_aligned() -> None:
    """What is written is read back; even nothing is something."""
    memory = HOST.allocate(64)
    HOST.write(memory, 8, b"abc")

    assert bytes(HOST.read(memory, 6, 6)) == b"\0\0abc\0" and len(HOST.allocate(0)) == 1


@pytest.mark.parametrize("size_bytes", [0, 1, 4, 63, 64, 65, 1000, 65_535, 65_536, 100_000])
def test_host_memory_of_any_size_is_zeroed_and_aligned_also_where_it_was_used(
    size_bytes: int,
) -> None:
    """Blocks that were written and dropped come back as zeros."""
    for _ in range(3):
        blocks = [HOST.allocate(size_bytes) for _ in range(20)]
        assert all(len(b) == max(1, size_bytes) and not any(b) for b in blocks)
        assert not any(addressof(c_char.from_buffer(b)) % 64 for b in blocks)
        for b in blocks:
            b[:] = b"x" * len(b)


@needs_fork
@pytest.mark.parametrize("size_bytes", [8, 1 << 20])
def test_host_memory_is_private_to_a_process(size_bytes: int) -> None:
    """What a forked child writes, it alone reads, at the same addresses."""
    memory = HOST.allocate(size_bytes)
    memory[:2] = b"ab"

    def write() -> bytes:
        memory[0] = ord("c")
        return bytes(memory[:2])

    assert forked(write) == [b"cb"] and bytes(memory[:2]) == b"ab"


def test_small_memory_is_no_mapping_of_its_own() -> None:
    """A process has some 65,000 of these."""
    blocks = [HOST.allocate(4) for _ in range(70_000)]

    blocks[0][0] = blocks[-1][0] = 7
    assert len({addressof(c_char.from_buffer(b)) for b in blocks}) == 70_000
    assert not any(map(any, blocks[1:-1]))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc/self/statm")
@pytest.mark.parametrize("size_bytes", [64, 60_000, 1 << 20])
def test_memory_that_is_dropped_is_used_again_or_given_back(size_bytes: int) -> None:
    """A loop of new blocks does not grow; 20 MB in blocks of any size leave less than 4 MB.

    In a process of its own: what other tests have freed may be taken meanwhile, by huge pages.
    """
    done = subprocess.run(
        [sys.executable, "-c", dedent(_DROPPED), str(size_bytes)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert int(done.stdout) < 4_000_000


_DROPPED = """
    import sys
    from mmap import PAGESIZE
    from pathlib import Path
    from byparts_graph_ir import HOST

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * PAGESIZE

    size_bytes = int(sys.argv[1])
    HOST.allocate(size_bytes)[:] = bytes(size_bytes)
    before, count = resident(), min(20_000_000 // size_bytes, 30_000)
    for _ in range(3):
        blocks = [None] * count  # a list that grows would leave memory of its own between them
        for i in range(count):
            blocks[i] = HOST.allocate(size_bytes)
            blocks[i][:] = b"x" * size_bytes
        del blocks
    print(resident() - before)
"""


@pytest.mark.parametrize("size_bytes", [2**60, 2**70])
def test_host_memory_that_is_not_there_is_a_memory_error(size_bytes: int) -> None:
    """Not the system's own error, which nobody expects."""
    with pytest.raises(MemoryError, match=f"cannot allocate {size_bytes:,} bytes: "):
        HOST.allocate(size_bytes)


class Cells(list[float]):
    """An array library in three lines: `out[...] = result` is all that the adapter asks for."""

    def __setitem__(self, where: Any, values: Any) -> None:
        super().__setitem__(slice(None), values)


def test_functional_rules_are_copied_into_place() -> None:
    """Twenty lines are a backend: the adapter puts results where the program wants them."""
    backend = Backend("toy", view)
    backend.functions.on(Neg)(lambda op, x: [-v for v in x])
    out = Cells([0.0, 0.0])
    node = neg(given("x", 2)).node
    assert node is not None
    backend.bind(node, [Cells([1.0, -2.0])], [out])()

    assert out == [-1.0, 2.0] and backend.supports(neg) and not backend.supports(Add())


def test_a_missing_kernel_names_op_types_backend_and_line() -> None:
    """The author of a backend is told what to write."""
    node = neg(given("x", 2)).node
    assert node is not None
    with pytest.raises(
        MissingRule,
        match=r"'toy' has no kernel for Neg on \(f32\[2\]\); add one with @kernels.on\(Neg\)",
    ):
        Backend("toy", view).bind(node, [], [])


def test_a_backend_is_named_where_it_is_sent_to_another_process() -> None:
    with pytest.raises(GraphError, match=r"Backend 'toy' cannot be pickled.*; send its name"):
        pickle.dumps(Backend("toy", view))


def test_a_backend_of_later_is_loaded_by_the_first_question_that_its_facts_do_not_answer() -> None:
    """Its name and speed are known; a rule is not, and comes with all the rest."""
    loaded: list[Backend] = []

    def load() -> Backend:
        loaded.append(Backend("later", view, slow_to_build=True, stretches=True))
        loaded[0].kernels.on(Neg)(neg)
        return loaded[0]

    backend = Backend.later("later", load, slow_to_build=True)

    assert (backend.name, backend.space, backend.around) == ("later", HOST, None)
    assert backend.slow_to_build and not loaded
    assert backend.supports(Neg()) and backend.stretches
    assert type(backend) is Backend and backend == loaded[0] and len(loaded) == 1


def test_a_backend_of_later_that_cannot_be_loaded_says_so_again() -> None:
    """Each question gets the error, and none half a backend."""

    def load() -> Backend:
        raise ImportError("no module named 'generator'")

    backend = Backend.later("broken", load)

    for _ in range(2):
        with pytest.raises(BackendError, match="'broken' cannot be imported: no module named"):
            _ = backend.kernels

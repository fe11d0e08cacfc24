"""A backend is two tables and a view."""

from __future__ import annotations

from typing import Any

import pytest
from toy_ops import Add, Neg, given, neg

from byparts_graph_ir import HOST, Backend, MissingRule, TensorType


def view(memory: Any, offset: int, type: TensorType) -> Any:
    return memoryview(memory)[offset : offset + type.size_bytes].cast("f")


def test_host_memory_is_zeroed_writable_and_aligned() -> None:
    """What is written is read back; even nothing is something."""
    memory = HOST.allocate(64)
    HOST.write(memory, 8, b"abc")

    assert bytes(HOST.read(memory, 6, 6)) == b"\0\0abc\0" and len(HOST.allocate(0)) == 1


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

"""The views share memory; a kernel more is a line; what is missing is named.  Needs torch."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from byparts_graph_ir import (
    HOST,
    ITEM_BYTES,
    Graph,
    Input,
    MissingRule,
    Node,
    Op,
    TensorType,
    Value,
)
from byparts_graph_ir.parts.hub import parts
from byparts_opset import Add, Cast

torch = pytest.importorskip("torch", reason="needs torch")
table = pytest.importorskip("byparts_kernels_torch.table", reason="needs torch")


class Double(Op):
    """y = 2 x."""

    def infer(self, x: TensorType) -> tuple[TensorType, ...]:
        return (x,)


def double(shape: tuple[int, ...]) -> Node:
    return Node(Double(), (Value(TensorType("f32", shape)),))


def test_the_hub_makes_it() -> None:
    assert parts.backend("torch").name == "torch"


def test_a_view_is_the_memory_itself() -> None:
    memory = HOST.allocate(64)
    x = table.view(memory, 16, TensorType("f32", (2, 3)))

    x.fill_(1)

    assert x.shape == (2, 3)
    assert bytes(HOST.read(memory, 0, 20)) == b"\0" * 16 + b"\0\0\x80?"


@pytest.mark.parametrize("dtype", sorted(table.DTYPES))
def test_every_dtype_has_its_size(dtype: str) -> None:
    x = table.view(HOST.allocate(64), 0, TensorType(dtype, (4,)))

    assert x.element_size() == ITEM_BYTES[dtype]


@pytest.mark.parametrize("dtype", sorted(table.DTYPES))
def test_a_tensor_of_bytes_is_memory_too(dtype: str) -> None:
    """A workspace is one."""
    block = table.view(HOST.allocate(128), 0, TensorType("u8", (128,)))
    x = table.view(block, 64, TensorType(dtype, (2, 3)))

    x.fill_(1)

    assert block[64:].any() and not block[:64].any()
    assert x.data_ptr() == block.data_ptr() + 64


def test_four_bits_are_refused_by_name() -> None:
    """Torch has no i4 that computes: neither as memory nor in a kernel."""
    with pytest.raises(
        MissingRule, match=r"torch computes no i4, got i4\[4\]; cast it to i8 first"
    ):
        table.view(HOST.allocate(64), 0, TensorType("i4", (4,)))
    with pytest.raises(MissingRule, match=r"'torch' has no kernel for Add on \(i4\[2\], i4\[2\]\)"):
        parts.backend("torch").compile(Add(), [TensorType("i4", (2,))] * 2)
    with pytest.raises(MissingRule, match=r"have no u32 there; cast to i64 before"):
        parts.backend("torch").compile(Add(), [TensorType("u32", (2,))] * 2)
    with pytest.raises(MissingRule, match=r"Cast on \(f32\[2\]\) -> \(i4\[2\]\)"):
        parts.backend("torch").compile(Cast("i4"), [TensorType("f32", (2,))])


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_scalars_and_empty_tensors_have_their_shape(shape: tuple[int, ...]) -> None:
    assert table.view(HOST.allocate(64), 0, TensorType("f32", shape)).shape == shape


def test_a_missing_kernel_names_op_and_line() -> None:
    made = parts.backend("torch")
    says = "no kernel for Double on (f32[2]); add one with @kernels.on(Double)"

    assert not made.supports(Double())
    with pytest.raises(MissingRule, match=re.escape(says)):
        made.bind(double((2,)), [], [])


def test_a_missing_kernel_is_named_when_compiled() -> None:
    with pytest.raises(MissingRule, match=r"'torch' has no kernel for Double on \(f32\[2\]\)"):
        parts.backend("torch").compile(Double(), (TensorType("f32", (2,)),))


def test_an_added_kernel_runs_in_the_arena(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table.kernels, "_rules", {})
    table.kernels.on(Double)(lambda op, xs, ys: partial(torch.add, xs[0], xs[0], out=ys[0]))
    made, memory = parts.backend("torch"), HOST.allocate(64)
    x, y = (made.view(memory, offset, TensorType("f32", (2,))) for offset in (0, 8))
    x.copy_(torch.tensor([1.0, 2.0]))

    made.bind(double((2,)), [x], [y])()

    assert y.tolist() == [2.0, 4.0]


def test_what_torch_lacks_is_computed_by_the_next_backend() -> None:
    pytest.importorskip("byparts_kernels_numpy", reason="needs the next backend")
    build = pytest.importorskip("byparts_runtime", reason="needs the runtime").build
    x = Input(TensorType("u32", (3,)))
    program = build(Graph.of([x], [Add()(x, x)]), backends=("torch", "numpy"))

    (y,) = program(np.array([1, 2**31, 2**32 - 1], np.uint32))

    assert y.dtype == np.uint32
    assert y.tolist() == [2, 0, 2**32 - 2]

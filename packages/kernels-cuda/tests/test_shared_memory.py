"""Two backends of one GPU, each with a `Space` of its own, as ours and torch's: one arena for both.

Torch's part is played by a backend whose memory is an object with `data_ptr()`, whose views are
NumPy arrays, and which takes our memory as torch does: by what it says of itself.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from doubled import adder, gpu_on

import byparts_opset as ops
from byparts_graph_ir import Backend, Graph, Input, Op, Space, Table, TensorType
from byparts_kernels_cuda.driver.double import Double
from byparts_kernels_cuda.gpu import Gpu

runtime = pytest.importorskip("byparts_runtime", reason="needs byparts-runtime")
KIND = TensorType("f32", (64,))


class Tensor:
    """Bytes of a GPU as another library holds them."""

    def __init__(self, gpu: Gpu, size_bytes: int) -> None:
        with gpu:
            self._address = gpu.allocate(size_bytes)
        self._gpu, self.size_bytes = gpu, max(1, size_bytes)

    def data_ptr(self) -> int:
        return self._address

    def __del__(self) -> None:
        self._gpu.release("cuMemFree_v2", self._address)


class TheirSpace(Space):
    """Has the name of our space, and waits for the whole GPU."""

    def __init__(self, gpu: Gpu) -> None:
        self.gpu, self.name = gpu, gpu.name
        self.waited = 0

    def allocate(self, size_bytes: int) -> Tensor:
        made = Tensor(self.gpu, size_bytes)
        self.write(made, 0, bytes(size_bytes))
        return made

    def read(self, memory: Any, offset: int, size_bytes: int) -> bytes:
        self.synchronize()
        return ctypes.string_at(theirs(memory) + offset, size_bytes)

    def write(self, memory: Any, offset: int, data: bytes | memoryview) -> None:
        self.synchronize()
        ctypes.memmove(theirs(memory) + offset, bytes(data), len(data))

    def synchronize(self) -> None:
        self.waited += 1
        with self.gpu:
            self.gpu.driver.cuCtxSynchronize()


def theirs(memory: Any) -> int:
    """The address of their memory, or of ours, which gives it as arrays do."""
    own = getattr(memory, "data_ptr", None)
    return int(own() if own else memory.__cuda_array_interface__["data"][0])


def multiplier(gpu: Gpu) -> Backend:
    """Their backend: Mul by NumPy."""
    kernels: Table[Any] = Table("kernel")

    @kernels.on(ops.Mul)
    def mul(op: Op, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        def run() -> None:
            with gpu:
                gpu.driver.cuCtxSynchronize()
            outputs[0][...] = inputs[0] * inputs[1]

        return run

    def view(memory: Any, offset: int, kind: TensorType) -> Any:
        there: Any = (ctypes.c_char * kind.size_bytes).from_address(theirs(memory) + offset)
        return np.frombuffer(there, np.float32).reshape(kind.dims)

    return Backend("theirs", view, kernels, space=TheirSpace(gpu), copy=np.copy)


@pytest.fixture
def backends() -> dict[str, Backend]:
    gpu = gpu_on(Double())
    return {"ours": adder(gpu), "theirs": multiplier(gpu)}


ORDERS = [("ours", "theirs"), ("theirs", "ours")]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("place", ["ours", "theirs"])
def test_each_takes_nodes_in_one_arena(
    backends: dict[str, Backend], order: tuple[str, str], place: str
) -> None:
    """Wherever the arena and the variable were made, and with nothing copied between the two."""
    x, w = Input(KIND, name="x"), Input(KIND, name="w")
    start = np.ones(64, np.float32)
    weight = runtime.Variable("w", start, space=backends[place].space)
    given = {"variables": (weight,), "updates": (weight,), "planner": "auto"}
    program = runtime.build(
        Graph.of([x, w], [(w + x) * x, w + x]), backends=[backends[b] for b in order], **given
    )

    (y,) = program(np.full(64, 2, np.float32))

    assert y.tolist() == [6] * 64 and weight.read().tolist() == [3] * 64
    assert {s.backend for s in program.steps} == {"cuda:0", "theirs"}


@pytest.mark.parametrize("order", ORDERS)
def test_a_run_waits_for_both_before_it_writes_a_variable(
    backends: dict[str, Backend], order: tuple[str, str]
) -> None:
    """Each space knows of its own failures alone."""
    x, w = Input(KIND, name="x"), Input(KIND, name="w")
    weight = runtime.Variable("w", np.ones(64, np.float32), space=backends["ours"].space)
    program = runtime.build(
        Graph.of([x, w], [(w + x) * x]),
        backends=[backends[b] for b in order],
        variables=(weight,),
        updates=(weight,),
    )
    told = Later()
    backends["ours"].space.gpu.told.append(told)  # type: ignore[attr-defined]  # CudaSpace

    with pytest.raises(RuntimeError, match="told when the stream is waited for"):
        program(np.full(64, 2, np.float32))

    assert weight.read().tolist() == [1] * 64


class Later:
    def tell(self) -> None:
        raise RuntimeError("told when the stream is waited for")

"""Arrays of other libraries: read where they are, of every dtype, or told apart from what we take."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toy_backend import add, build_by_hand, given, graph_of

from byparts_graph_ir import GraphError, Input, ShapeError, TensorType
from byparts_runtime import Executor, Store, Variable
from byparts_runtime.arrays import dtypes
from byparts_weights import dtypes as weights_dtypes


class Foreign:
    """A NumPy array of which only DLPack is seen."""

    def __init__(self, array: Any, device: tuple[int, int] = (1, 0)) -> None:
        self.array, self.device = np.asarray(array), device

    def __dlpack__(self) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device


def doubled(dtype: str = "f32", *shape: int) -> Any:
    x = Input(TensorType(dtype, shape), None, "x")
    return build_by_hand(graph_of([x], add(x, x)))


def test_they_are_fed_and_bound() -> None:
    """Bound ones are read in place."""
    x = np.ones((2, 3), np.float32)
    program = doubled("f32", 2, 3)
    run = program.bind(Foreign(x))

    x[:] = 4

    assert program(Foreign(x[:, :]))[0].tolist() == [[8] * 3] * 2
    assert run()[0].tolist() == [[8] * 3] * 2


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "?"])
def test_every_dtype_passes(dtype: str) -> None:
    x = np.arange(3).astype(dtype)

    v = Variable("v", Foreign(x))  # type: ignore[arg-type]  # the dtype is told by DLPack

    assert v.read().dtype == dtype
    assert v.read().tolist() == x.tolist()


@pytest.mark.parametrize(
    "cut", [np.s_[::2], np.s_[::-1], np.s_[:, 1:], np.s_[:0], np.s_[1, 1], np.s_[::-2, ::-1]]
)
def test_any_strides_do(cut: Any) -> None:
    x = np.arange(12, dtype=np.float32).reshape(4, 3)[cut]
    program = doubled("f32", *x.shape)

    assert program(Foreign(x))[0].tolist() == (2 * x).tolist()


def test_strided_ones_are_not_bound() -> None:
    x = np.ones((4, 3), np.float32).T
    with pytest.raises(GraphError, match=r"'x' is not contiguous and aligned .*bind a contiguous"):
        doubled("f32", 3, 4).bind(Foreign(x))


def test_they_are_kept_alive() -> None:
    """The program has nothing but the capsule."""
    run = doubled("f32", 1000).bind(Foreign(np.full(1000, 3, np.float32)))

    _ = [np.zeros(1000, np.float32) for _ in range(10)]

    assert run()[0].tolist() == [6] * 1000


def test_what_is_elsewhere_says_where() -> None:
    x = Foreign(np.ones(2, np.float32), device=(2, 1))
    with pytest.raises(GraphError, match=r"feed 'x': the array is on cuda:1, not in host memory"):
        doubled("f32", 2)(x)
    with pytest.raises(GraphError, match=r"variable 'v': the array is on device 99:0"):
        Variable("v", Foreign(np.ones(2), (99, 0)))  # type: ignore[arg-type]


def test_wrong_types_are_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"expected f32\[2\], got f64\[2\]; convert it with a cast"
    ):
        doubled("f32", 2)(Foreign(np.ones(2)))
    with pytest.raises(ShapeError, match="feed 'x': elements of code 5 and bits 128 are none of"):
        doubled("f32", 2)(Foreign(np.ones(2, np.complex128)))


def test_an_executor_takes_them() -> None:
    x = given("x", "n")
    executor = Executor(
        backends=doubled("f32", 1)._loaded.parts.backends, passes=(), planner=None, legalize=None
    )

    assert executor(graph_of([x], add(x, x)), Foreign(np.ones(3, "f4")))[0].tolist() == [2, 2, 2]


@pytest.fixture
def without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As where it is not installed."""
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    caches = (dtypes.numpy_dtype, dtypes.carrier, dtypes._type, weights_dtypes.numpy_dtype)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def test_torch_tensors_are_fed() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    x = torch.arange(6.0).view(2, 3)

    assert doubled("f32", 3, 2)(x.T)[0].tolist() == (2 * x.T).tolist()
    with pytest.raises(GraphError, match=r"feed 'x': Tensor gives no array: .* tensor.detach\(\)"):
        doubled("f32", 2, 3)(x.clone().requires_grad_())
    with pytest.raises(GraphError, match=r"feed 'x': Tensor gives no array: .*meta"):
        doubled("f32", 2, 3)(x.to("meta"))


@pytest.mark.usefixtures("without_ml_dtypes")
def test_bf16_of_torch_needs_no_ml_dtypes(tmp_path: Path) -> None:
    """It is carried, stored and given back; only NumPy cannot have it."""
    torch = pytest.importorskip("torch", reason="needs torch")
    value = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    store = Store()
    v = store.create("v", value)
    store.save(tmp_path / "v.npz")
    v.write(value * 2)
    store.load(tmp_path / "v.npz")

    assert str(v.type) == "bf16[2]"
    assert v.read("torch").tolist() == [1.5, -2.0]
    with pytest.raises(ImportError, match=r"bf16 in NumPy needs ml_dtypes: .*results=\"torch\""):
        v.read()


@pytest.mark.usefixtures("without_ml_dtypes")
def test_a_program_in_bf16_needs_no_ml_dtypes() -> None:
    torch = pytest.importorskip("torch", reason="needs torch")
    kernels = pytest.importorskip("byparts_kernels_torch", reason="needs byparts-kernels-torch")
    ops = pytest.importorskip("byparts_opset", reason="needs byparts-opset")
    x = Input(TensorType("bf16", (2,)), None, "x")
    graph = graph_of([x], ops.tanh(x))
    program = build_by_hand(graph, backends=(kernels.make(),), results="torch")
    value = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)

    assert program(value)[0].equal(torch.tanh(value))
    assert program.bind(value)()[0].equal(torch.tanh(value))

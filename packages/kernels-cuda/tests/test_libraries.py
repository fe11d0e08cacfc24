"""cuBLASLt and cuDNN, by doubles: arguments, layouts, algorithms, and the choice between ways."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emulation import compiled, samples
from library_doubles import CublasDouble, CudnnDouble

import byparts_opset as ops
from byparts_graph_ir import Kernel, TensorType
from byparts_kernels_cuda import graph
from byparts_kernels_cuda.driver.api import driver
from byparts_kernels_cuda.gpu import Gpu, gpu as gpu_of
from byparts_kernels_cuda.libraries import choice, cublas, cudnn, either, rules
from byparts_kernels_cuda.libraries.library import Library, LibraryError, opened
from byparts_kernels_cuda.memory import DeviceArray
from byparts_kernels_cuda.space import space_of
from byparts_op_loops import measured
from byparts_opset.conv2d import _transposed_padding
from byparts_opset.dtypes import type_of
from byparts_opset.window import remade

pytestmark = compiled


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """A GPU of the driver's double; libraries get everything, and nothing is measured."""
    monkeypatch.setenv("BYPARTS_CUDA", "emulated")
    monkeypatch.setenv("BYPARTS_MEASURE", "0")
    monkeypatch.setattr(either, "_LARGE", 1)
    return gpu_of(0)


@pytest.fixture
def products(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> CublasDouble:
    double = CublasDouble(driver().library)
    made = Library(double, cublas.FUNCTIONS, double.words)
    monkeypatch.setattr(cublas, "library", lambda: made)
    return double


@pytest.fixture
def convolutions(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> CudnnDouble:
    double = CudnnDouble(driver().library)
    made = Library(double, cudnn.FUNCTIONS, double.words)
    monkeypatch.setattr(cudnn, "library", lambda: made)
    return double


def _array(gpu: Gpu, t: TensorType, value: Any = None) -> DeviceArray:
    space = space_of(gpu)
    memory = space.allocate(t.size_bytes)
    if value is not None and t.size_bytes:
        space.write(memory, 0, np.ascontiguousarray(value).tobytes())
    return DeviceArray(memory, memory.address, t)


def _read(x: DeviceArray, like: Any) -> Any:
    data = space_of(x.gpu).read(x, 0, x.type.size_bytes)
    return np.frombuffer(data, like.dtype).reshape(like.shape)


def _bound(gpu: Gpu, op: Any, kernel: Kernel, inputs: Sequence[Any]) -> tuple[Any, DeviceArray]:
    """(the run, its output)."""
    types = [TensorType(t.dtype, t.dims) for t in _types(inputs)]
    given = [_array(gpu, t, x) for t, x in zip(types, inputs, strict=True)]
    made = _array(gpu, op.infer(*types)[0])
    workspace = _array(gpu, TensorType("u8", (kernel.workspace_bytes,)))
    return kernel.bind(given, [made], workspace, None), made


def _types(arrays: Sequence[Any]) -> list[TensorType]:
    return [type_of(a) for a in arrays]


def _check(gpu: Gpu, op: Any, kernel: Kernel, inputs: Sequence[Any], digits: int = 4) -> None:
    """The kernel gives what `evaluate` gives, also recorded in a CUDA graph."""
    (expected,) = op.evaluate(*inputs)
    run, made = _bound(gpu, op, kernel, inputs)
    limit = 10.0**-digits * max(1.0, float(np.abs(expected.astype(np.float64)).max(initial=0)))
    for call in (run, graph.record(gpu, [run], True)):
        space_of(gpu).write(made, 0, bytes(made.type.size_bytes))
        with gpu:
            call()
        found = _read(made, expected).astype(np.float64)
        np.testing.assert_allclose(found, expected.astype(np.float64), rtol=0, atol=limit)


def _product(m: int, k: int, n: int, flags: Any, leads: Any, dtype: str) -> list[TensorType]:
    a = (*leads[0], *((k, m) if flags[0] else (m, k)))
    b = (*leads[1], *((n, k) if flags[1] else (k, n)))
    return [TensorType(dtype, a), TensorType(dtype, b)]


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize(
    ("leads", "dtype"),
    [
        (((), ()), "f32"),
        (((2, 3), (2, 3)), "f64"),
        (((2, 3), ()), "f32"),
        (((1,), (4,)), "f32"),
        (((), ()), "bf16"),
    ],
)
def test_products_go_to_the_library(
    gpu: Gpu, products: CublasDouble, flags: Any, leads: Any, dtype: str
) -> None:
    op, types = ops.MatMul(*flags), _product(5, 7, 3, flags, leads, dtype)
    kernel = rules.product(op, types, frozenset())

    assert kernel.workspace_bytes == 65536
    _check(gpu, op, kernel, samples(types), 2 if dtype == "bf16" else 5)
    assert products.counts["cublasLtMatmul"] == 2


@pytest.mark.parametrize("shape", [(5, 3), (3,), (1, 3)])
def test_what_is_added_is_part_of_the_call(
    gpu: Gpu, products: CublasDouble, shape: tuple[int, ...]
) -> None:
    op = ops.AddMatmul(False, True, -0.5)
    types = [TensorType("f32", shape), *_product(5, 7, 3, (False, True), ((), ()), "f32")]

    _check(gpu, op, rules.product(op, types, frozenset()), samples(types), 5)
    assert products.counts["cublasLtMatmul"] == 2


def test_descriptors_do_not_outlive_the_call(gpu: Gpu, products: CublasDouble) -> None:
    types = _product(5, 7, 3, (False, False), ((), ()), "f32")
    run, _ = _bound(
        gpu, ops.MatMul(), rules.product(ops.MatMul(), types, frozenset()), samples(types)
    )
    assert products.alive["MatrixLayout"] == 3
    del run
    assert +products.alive == {"handle": 1}


@pytest.mark.parametrize(
    "types",
    [
        [TensorType("i32", (4, 5)), TensorType("i32", (5, 6))],
        [TensorType("f32", (2, 1, 4, 5)), TensorType("f32", (1, 3, 5, 6))],
        [TensorType("f32", (4, 0)), TensorType("f32", (0, 6))],
    ],
)
def test_what_the_library_has_not_is_ours(
    gpu: Gpu, products: CublasDouble, types: list[TensorType]
) -> None:
    op = ops.MatMul()
    assert cublas.product_of(op, types) is None
    _check(gpu, op, rules.product(op, types, frozenset()), samples(types), 5)
    assert not products.counts["cublasLtMatmul"]


def test_without_an_algorithm_it_is_ours(gpu: Gpu, products: CublasDouble) -> None:
    products.refuses = True
    types = _product(5, 7, 3, (False, False), ((), ()), "f32")

    _check(gpu, ops.MatMul(), rules.product(ops.MatMul(), types, frozenset()), samples(types), 5)
    assert not products.counts["cublasLtMatmul"]


def test_the_faster_way_is_measured_once(
    gpu: Gpu, products: CublasDouble, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BYPARTS_MEASURE", "1")
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    types = _product(5, 9, 3, (False, False), ((), ()), "f32")
    kernel = rules.product(ops.MatMul(), types, frozenset())
    _bound(gpu, ops.MatMul(), kernel, samples(types))
    calls = products.counts["cublasLtMatmul"]
    assert calls == 1 + choice._ROUNDS * choice._CALLS

    measured._of_folder.cache_clear()  # as another process
    _bound(gpu, ops.MatMul(), kernel, samples(types))
    assert products.counts["cublasLtMatmul"] == calls


CONVOLUTIONS = [
    (ops.Conv2d((1, 1), "SAME", (1, 1), 1, "NCHW"), (2, 3, 5, 6), (4, 3, 3, 3)),
    (ops.Conv2d((2, 3), ((1, 1), (2, 2)), (1, 1), 1, "NCHW"), (2, 1, 6, 7), (2, 1, 3, 2)),
    (ops.Conv2d((1, 1), "SAME", (2, 1), 2, "NCHW"), (1, 4, 6, 5), (6, 2, 3, 3)),
]


@pytest.mark.parametrize(("op", "x", "w"), CONVOLUTIONS)
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_convolutions_go_to_the_library(
    gpu: Gpu, convolutions: CudnnDouble, op: Any, x: Any, w: Any, dtype: str
) -> None:
    image, filters = TensorType(dtype, x), TensorType(dtype, w)
    (y,) = op.infer(image, filters)
    gradient = remade(ops.Conv2dFilterGradient, op)
    around = _transposed_padding(op, image, filters)
    assert around is not None
    back = remade(ops.Conv2dTranspose, op, padding=around)
    for one, types in (
        (op, [image, filters]),
        (gradient, [image, y, filters]),
        (back, [y, filters]),
    ):
        kernel = rules.convolution(one, types, frozenset())
        _check(gpu, one, kernel, samples(types), 5)
    assert convolutions.counts["cudnnConvolutionBackwardData"] == 2
    assert convolutions.alive["handle"] <= 2


@pytest.mark.parametrize(
    ("op", "x", "w"),
    [
        (ops.Conv2d((1, 1), "SAME", (1, 1), 1, "NHWC"), (2, 5, 6, 3), (3, 3, 3, 4)),
        (ops.Conv2d((1, 1), ((1, 0), (0, 0)), (1, 1), 1, "NCHW"), (2, 3, 5, 6), (4, 3, 3, 3)),
        (ops.Conv2d((1, 1), ((-1, -1), (0, 0)), (1, 1), 1, "NCHW"), (2, 3, 5, 6), (4, 3, 3, 3)),
    ],
)
def test_padding_that_the_library_has_not_is_ours(op: Any, x: Any, w: Any) -> None:
    assert cudnn.convolution_of(op, [TensorType("f32", x), TensorType("f32", w)]) is None


def test_a_status_is_an_error_with_words(products: CublasDouble) -> None:
    made = cublas.library()
    assert made is not None
    with pytest.raises(LibraryError, match="cublasLtMatmulDescDestroy failed with 999: words of"):
        made.cublasLtMatmulDescDestroy(5)


def test_a_library_is_found_where_it_is_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CUBLASLT", "")
    assert opened("cublasLt", ("13",)) is None
    monkeypatch.setenv("BYPARTS_CUBLASLT", "/nowhere/libcublasLt.so")
    assert opened("cublasLt", ("13",)) is None

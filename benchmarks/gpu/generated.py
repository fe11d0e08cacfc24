"""The backend of generated kernels on a GPU: a step of a workload, bandwidth, products.

Nothing here needs torch.  Device "emulated" is one that is not there: then numbers are of the CPU,
and only show that the check runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from ctypes import byref, c_float
from typing import Any

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import Backend, Graph, Input, TensorType
from byparts_kernels_cuda import make
from byparts_kernels_cuda.driver.functions import EVENT_TIMING
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.memory import DeviceArray, Event
from byparts_runtime import Variable, build
from gpu import words
from gpu.workloads import Workload

RUNS = 20  # of a program between two events


def backend_on(device: str) -> Backend:
    """The backend on "cuda:0", or on "emulated"."""
    if device == "emulated":
        os.environ.setdefault("BYPARTS_CUDA", "emulated")
        return make()
    return make(int(device.partition(":")[2] or 0))


def of(backend: Backend) -> Gpu:
    """Its GPU."""
    found: Gpu = backend.space.gpu  # type: ignore[attr-defined]  # a CudaSpace
    return found


def array(backend: Backend, value: Any, dtype: str = "f32") -> DeviceArray:
    """A NumPy array on the GPU; f32 may become another float."""
    from byparts_opset.dtypes import numpy_dtype

    value = np.ascontiguousarray(value, numpy_dtype(dtype))
    memory = backend.space.allocate(value.nbytes)
    backend.space.write(memory, 0, value.tobytes())
    made: DeviceArray = backend.view(memory, 0, TensorType(dtype, value.shape))
    return made


def step_of(work: Workload, device: str, precision: str, capture: Any) -> tuple[Any, Any, str]:
    """(step, which gives the loss as an array on the GPU; backend; what the program says)."""
    backend = backend_on(device)
    kind = "bf16" if precision == "bf16" else "f32"
    given = {k: TensorType(kind, a.shape) for k, a in (work.inputs | work.weights).items()}
    values = {k: Input(t, name=k) for k, t in given.items()}
    loss = work.define(words.ours(), values)
    old, new, begin = updates(work, loss, [values[k] for k in work.weights])
    variables = []
    for v in old:
        value = work.weights.get(v.name, begin.get(v.name))
        variables.append(Variable(v.name, v.type, space=backend.space))
        if value is not None:
            variables[-1].write(array(backend, value, v.type.dtype))
    graph = Graph.of([*[values[k] for k in work.inputs], *old], [loss, *new])
    program = build(
        graph,
        backends=(backend,),
        results=backend,
        variables=tuple(variables),
        updates=tuple(variables),
        capture=capture,
    )
    said = program.explain().partition("\ncapture    ")[2].partition("\n")[0]
    arena = f"{len(program.steps)} steps, arena {program.plan.arena_bytes / 1e6:.1f} MB"
    bound = program.bind(*[array(backend, a, kind) for a in work.inputs.values()])
    return (lambda: bound()[0]), backend, f"{arena}; {said}" if said else arena


def updates(work: Workload, loss: Any, weights: list[Any]) -> tuple[list[Any], list[Any], Any]:
    """All old values, all new ones, and what the first begin with if not with zero."""
    if not work.optimizer:
        return [], [], {}
    dws = gradients(loss, weights)
    rate = ops.fill(work.rate, "f32")
    if work.optimizer == "sgd":
        return weights, list(ops.gradient_descent(weights, dws, rate)), {}
    means, squares = ([Input(v.type, name=f"{s}.{v.name}") for v in weights] for s in "mv")
    count = Input(TensorType("f32", ()), name="count")
    number = count + 1.0
    new = ops.adam(weights, means, squares, dws, rate, number)
    return [*weights, *means, *squares, count], [*(v for of in new for v in of), number], {}


# -- bandwidth ------------------------------------------------------------------------------------


def bandwidth(device: str, small: bool) -> Iterator[dict[str, Any]]:
    """GB/s of kernels that only move data, beside a copy on the GPU."""
    backend = backend_on(device)
    rows, columns = (64, 96) if small else (8192, 4096)
    x, y = (Input(TensorType("f32", (rows, columns)), name=n) for n in "xy")
    size = x.type.size_bytes
    programs: dict[str, tuple[Sequence[Input], Any, int]] = {
        "elementwise: gelu(x) * y": ((x, y), ops.gelu(x, approximate=True) * y, 3 * size),
        "sum of rows": ((x,), ops.sum(x, 1), size),
        "sum of columns": ((x,), ops.sum(x, 0), size),
        "sum of all": ((x,), ops.sum(x), size),
        "softmax": ((x,), ops.softmax(x, -1), 2 * size),
        "layer norm": ((x,), ops.layer_norm(x, *_ones(columns)), 2 * size),
        "transpose": ((x,), ops.transpose(x), 2 * size),
    }
    copy = _bytes_a_second(backend, _copier(backend, size), 2 * size)
    yield {"bandwidth": "copy", "gb_s": copy / 1e9, "of_copy": 1.0}
    for name, (inputs, output, moved) in programs.items():
        try:
            program = build(Graph.of(inputs, [output]), backends=(backend,), results=backend)
            given = [array(backend, np.zeros(v.type.dims, "f4")) for v in inputs]
            found = _bytes_a_second(backend, program.bind(*given), moved)
            yield {"bandwidth": name, "gb_s": found / 1e9, "of_copy": found / copy}
        except Exception as error:
            yield {"bandwidth": name, "error": f"{type(error).__name__}: {error!s:.150}"}


def _ones(n: int) -> tuple[Any, Any]:
    return ops.fill(1.0, "f32", (n,)), ops.fill(0.0, "f32", (n,))


def _copier(backend: Backend, size: int) -> Callable[[], Any]:
    kind = TensorType("u8", (size,))
    x, y = (backend.view(backend.space.allocate(size), 0, kind) for _ in range(2))
    (copy,) = y.filled_by(x)

    def run() -> None:
        with of(backend):
            copy()

    return run


def seconds(backend: Backend, run: Callable[[], Any], count: int = RUNS) -> float:
    """Of one run on the GPU, the best of five."""
    on = of(backend)
    best = float("inf")
    for _ in range(5):
        with on:
            begin, end = Event(on, EVENT_TIMING), Event(on, EVENT_TIMING)
            begin.record()
            for _ in range(count):
                run()
            end.record()
            end.wait()
            milliseconds = c_float()
            on.driver.cuEventElapsedTime(byref(milliseconds), begin.handle, end.handle)
        best = min(best, milliseconds.value / count / 1e3)
    return best


def _bytes_a_second(backend: Backend, run: Callable[[], Any], moved: int) -> float:
    run()
    return moved / max(1e-9, seconds(backend, run))


# -- products -------------------------------------------------------------------------------------


def products(device: str, small: bool) -> Iterator[dict[str, Any]]:
    """TFLOP/s of products: ours, and of cuBLASLt where it is installed."""
    backend = backend_on(device)
    sizes = ((40, 24, 36),) if small else ((1024,) * 3, (4096,) * 3, (8192, 1024, 4096))
    for dtype in ("f32", "f16", "bf16"):
        for m, k, n in sizes:
            row: dict[str, Any] = {"product": f"{dtype} {m} x {k} x {n}"}
            for who in ("ours", "cublaslt"):
                try:
                    row[who] = _product(backend, who, dtype, (m, k, n))
                except Exception as error:
                    row[f"{who}_error"] = f"{type(error).__name__}: {error!s:.150}"
            yield row


def _product(backend: Backend, who: str, dtype: str, extents: tuple[int, int, int]) -> float | None:
    """TFLOP/s; `None` where there is no such library."""
    m, k, n = extents
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(s, np.float32) for s in ((m, k), (k, n)))
    types = [TensorType(dtype, (m, k)), TensorType(dtype, (k, n))]
    arrays = [array(backend, a, dtype) for a in (x, w)]
    y = array(backend, np.zeros((m, n)), dtype)
    run = products_of(who, types)
    if run is None:
        return None
    call = run(backend, arrays, y)
    with of(backend):
        call()
    found = seconds(backend, lambda: _within(of(backend), call), 2 if m < 100 else RUNS)
    return 2 * m * k * n / found / 1e12


def _within(on: Gpu, call: Callable[[], Any]) -> None:
    with on:
        call()


def products_of(who: str, types: Sequence[TensorType]) -> Any:
    """`bind(backend, inputs, output)` of our kernel, or of the library's; `None`: it is absent."""
    from byparts_kernels_cuda.launch import launched
    from byparts_kernels_cuda.libraries import cublas
    from byparts_kernels_cuda.products.matmul import matmul_launches

    op = ops.MatMul()
    if who == "ours":
        key = f"check {types[0]} {types[1]}".encode()
        kernel = launched(key, lambda: matmul_launches(op, types), 2)

        def bind(backend: Backend, inputs: Sequence[DeviceArray], y: DeviceArray) -> Any:
            size = kernel.workspace_bytes
            kind = TensorType("u8", (size,))
            work = backend.view(backend.space.allocate(size), 0, kind) if size else None
            return kernel.bind(inputs, [y], work, None)

        return bind
    library = cublas.library()
    wanted = None if library is None else cublas.product_of(op, types)
    if library is None or wanted is None:
        return None

    def bind_library(backend: Backend, inputs: Sequence[DeviceArray], y: DeviceArray) -> Any:
        work = backend.space.allocate(wanted.workspace_bytes)
        a, b = (x.address for x in inputs)
        return cublas.Matmul(of(backend), library, wanted).call(0, a, b, y.address, work.address)

    return bind_library

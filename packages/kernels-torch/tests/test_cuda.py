"""The backend on a GPU that is not there: memory, order of events, recording, what it declines.

What is computed is computed by the CPU's kernels; `cuda_double.py` says how late.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import (
    Backend,
    Graph,
    GraphError,
    Input,
    MissingRule,
    Op,
    Refused,
    ShapeError,
    TensorType,
)
from byparts_graph_ir.parts.hub import PartError, parts

torch = pytest.importorskip("torch", reason="needs torch")
runtime = pytest.importorskip("byparts_runtime", reason="needs byparts-runtime")
autodiff = pytest.importorskip("byparts_autodiff", reason="needs byparts-autodiff")
double = pytest.importorskip("cuda_double")
cuda = pytest.importorskip("byparts_kernels_torch.cuda")
cuda_space = pytest.importorskip("byparts_kernels_torch.cuda_space")
make = pytest.importorskip("byparts_kernels_torch").make

X = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


@pytest.fixture
def gpu() -> Iterator[Any]:
    """The double, seeing all that torch does."""
    with double.Double() as made:
        yield made


@pytest.fixture
def backend(gpu: Any) -> Backend:
    return backend_on(gpu)


def backend_on(api: Any, device: str = "cpu", *, tf32: bool = False) -> Backend:
    made: Backend = cuda.on_gpu(make(), cuda_space.Gpu(0, torch.device(device), api), tf32)
    return made


def f32(name: str, *shape: int) -> Input:
    return Input(TensorType("f32", shape), name=name)


def step(backend: Backend, **options: Any) -> tuple[Any, Any]:
    """A step of gradient descent on x @ w, and the weight."""
    x, w = f32("x", 2, 3), f32("w", 3, 2)
    loss = ops.mean(ops.tanh(x @ w))
    (dw,) = autodiff.gradients(loss, [w])
    (new,) = ops.gradient_descent([w], [dw], ops.fill(0.5, "f32"))
    weight = runtime.Store(backend.space).create("w", np.full((3, 2), 0.1, np.float32))
    graph = Graph.of([x, w], [loss, new])
    given = {"backends": (backend,), "variables": (weight,), "updates": (weight,)}
    return runtime.build(graph, **given, **options), weight


def doubled(backend: Backend, **options: Any) -> Any:
    x = f32("x", 2, 3)
    return runtime.build(Graph.of([x], [x + x]), backends=(backend,), **options)


@pytest.mark.parametrize("commit", ["auto", "copy"])
def test_a_recorded_program_computes_what_the_plain_one_does(backend: Backend, commit: str) -> None:
    """Also what it leaves in the variables, after several steps on different feeds."""
    plain, plain_weight = step(make(), commit=commit)
    program, weight = step(backend, commit=commit)

    for feed in (X, -X, X / 2):
        assert float(program(feed)[0]) == float(plain(feed)[0])
    np.testing.assert_array_equal(weight.read(), plain_weight.read())
    assert "steps replayed as one CUDA graph" in program.explain()


def test_a_call_is_feeds_one_replay_fetches_and_the_commits_replay(
    gpu: Any, backend: Backend
) -> None:
    """No step runs by itself, the host reads when it has waited, the commit comes last."""
    program, _ = step(backend)
    program(X)
    gpu.log.clear()

    program(X)

    assert gpu.log == [
        *("buffer is free", "copy asked for"),
        *("copied", "replayed"),
        *("synchronized", "read by the host"),
        "replayed",
    ]


def test_recording_comes_after_a_warm_up_on_another_stream(gpu: Any, backend: Backend) -> None:
    """The commit is recorded apart, and never warmed up: it would update the variables."""
    _, weight = step(backend)
    begin = gpu.log.index("side waits for main")

    assert gpu.log[begin:] == [
        *("side waits for main", "on side", "on main", "main waits for side"),
        *("recording", "recorded", "recording", "recorded"),
    ]
    np.testing.assert_array_equal(weight.read(), np.full((3, 2), 0.1, np.float32))


def test_a_pinned_buffer_is_filled_again_when_its_copy_is_done(gpu: Any, backend: Backend) -> None:
    """Nobody has waited for the first; the array itself may change as soon as it was fed."""
    space, x = backend.space, X.copy()
    memory = space.allocate(x.nbytes)
    write = space.writer(memory, 0, TensorType("f32", (2, 3)))

    write(-X)  # type: ignore[misc]
    write(x)  # type: ignore[misc]
    x[:] = 0

    assert gpu.log == ["copy asked for", "copied", "buffer is free", "copy asked for"]
    space.synchronize()
    assert bytes(space.read(memory, 0, X.nbytes)) == X.tobytes()


def test_results_may_stay_on_the_gpu(gpu: Any, backend: Backend) -> None:
    """As tensors of the caller's own, which autograd may use; nobody waits for them."""
    program = doubled(backend, results="torch")
    gpu.log.clear()

    (y,) = program(X)
    program(-X)

    assert "synchronized" not in gpu.log
    assert y.tolist() == (2 * X).tolist()
    assert y.requires_grad_().sum().requires_grad


def test_tensors_of_the_gpu_are_fed_without_the_host(gpu: Any, backend: Backend) -> None:
    """No pinned memory, no copy to the host."""
    program = doubled(backend, results=backend)
    gpu.log.clear()

    (y,) = program(torch.from_numpy(X))

    assert gpu.log == ["replayed"]
    assert y.tolist() == (2 * X).tolist()


def test_bound_tensors_are_read_in_place(backend: Backend) -> None:
    x = torch.from_numpy(X.copy())
    run = doubled(backend, results="torch").bind(x)

    x.fill_(3)

    assert run()[0].tolist() == [[6, 6, 6], [6, 6, 6]]


def test_what_cannot_be_adopted_says_what_to_do(backend: Backend) -> None:
    program = doubled(backend)

    with pytest.raises(GraphError, match=r"feed 'x': the tensor requires grad.*x\.detach\(\)"):
        program(torch.ones(2, 3, requires_grad=True))
    with pytest.raises(GraphError, match=r"has strides \(1, 2\): use x\.contiguous\(\)"):
        program(torch.ones(3, 2).T)
    with pytest.raises(ShapeError, match=r"expected f32\[2,3\], got f64\[2,3\]; convert it to f32"):
        program(torch.ones(2, 3, dtype=torch.float64))
    with pytest.raises(ShapeError, match=r"expected f32\[2,3\], got f32\[3,3\]$"):
        program(torch.ones(3, 3))
    with pytest.raises(GraphError, match="'x' is in host memory, the program in cuda:0"):
        program.bind(X)


def test_bf16_goes_in_and_out_as_tensors(backend: Backend) -> None:
    """Feeds, variables and results; NumPy has no bf16 of its own."""
    x, w = (Input(TensorType("bf16", (2,)), name=n) for n in "xw")
    given = torch.tensor([1.5, 2.5], dtype=torch.bfloat16)
    weight = runtime.Variable("w", given, space=backend.space)
    options = {"variables": (weight,), "updates": (weight,), "results": "torch"}
    program = runtime.build(Graph.of([x, w], [x + w, x + w]), backends=(backend,), **options)

    (y,) = program(given)

    assert (y.dtype, y.tolist()) == (torch.bfloat16, [3, 5])
    assert weight.read(backend).tolist() == [3, 5]
    weight.write(given)
    assert weight.read(backend).tolist() == [1.5, 2.5]


def test_a_kernel_that_cannot_be_recorded_leaves_the_plain_steps(
    gpu: Any, backend: Backend
) -> None:
    gpu.refuse = "aten.tanh"
    program, _ = step(backend)
    plain, _ = step(make())

    assert float(program(X)[0]) == float(plain(X)[0])
    assert "capture    not captured: CUDA cannot record it: operation not permitted" in (
        program.explain()
    )


def test_recording_may_be_demanded_and_switched_off(gpu: Any, backend: Backend) -> None:
    assert "capture" not in step(backend, capture=False)[0].explain()
    gpu.refuse = "aten.tanh"
    with pytest.raises(GraphError, match="operation not permitted when stream is capturing"):
        step(backend, capture=True)


def test_an_effect_is_not_recorded(backend: Backend, capsys: pytest.CaptureFixture[str]) -> None:
    """A replay would print nothing."""
    x = f32("x", 2, 3)
    program = runtime.build(Graph.of([x], [ops.Print("x is")(x) + x]), backends=(backend,))
    assert capsys.readouterr().out == ""

    program(X)

    assert capsys.readouterr().out.startswith("x is [[1. 2. 3.]")
    assert "not captured: print is an effect, which a replay cannot repeat" in program.explain()


def test_profiling_times_the_plain_steps_and_leaves_the_variables(backend: Backend) -> None:
    program, weight = step(backend, commit="copy")

    profile = program.profile(X, runs=2)
    program.trace(X)

    assert len(profile.step_s) == len(program.steps)
    np.testing.assert_array_equal(weight.read(), np.full((3, 2), 0.1, np.float32))


def test_what_torch_has_for_floats_only_on_a_gpu_is_refused_when_built(backend: Backend) -> None:
    """It would fail at the first run."""
    x = Input(TensorType("i32", (2, 2)), name="x")
    with pytest.raises(MissingRule, match="torch has no matmul of i32 on a GPU"):
        runtime.build(Graph.of([x], [x @ x]), backends=(backend,))


I32 = TensorType("i32", (1, 1, 4, 4))


@pytest.mark.parametrize(
    ("op", "types"),
    [
        (ops.MatMul(), (I32, I32)),
        (ops.Conv2d(), (I32, I32)),
        (ops.Conv2dTranspose((1, 1), ((0, 0), (0, 0))), (I32, I32)),
        (ops.Conv2dFilterGradient(), (I32, TensorType("i32", (1, 1, 1, 1)), I32)),
        (ops.MaxPool((2, 2), (1, 1)), (I32,)),
    ],
    ids=lambda x: x.name if isinstance(x, Op) else "i32",
)
def test_the_refusal_is_the_rule_s_and_comes_when_compiled(
    backend: Backend, op: Op, types: tuple[TensorType, ...]
) -> None:
    """The CPU takes integers, and the GPU floats."""
    floats = tuple(TensorType("f32", t.shape) for t in types)

    with pytest.raises(Refused, match=f"torch has no {op.name} of i32 on a GPU; cast"):
        backend.compile(op, types)
    assert backend.compile(op, floats) and make().compile(op, types)


def test_to_compile_zeroes_nothing(gpu: Any, backend: Backend) -> None:
    """Kernels are bound to memory that nobody reads, large as it may be."""
    asked: list[int] = []
    zeroed = backend.space.allocate
    backend.space.allocate = lambda size: asked.append(size) or zeroed(size)  # type: ignore[assignment, func-returns-value, method-assign]
    x = TensorType("f32", (300, 300))

    kernel = backend.compile(ops.Softmax(1), (x,))

    assert asked == []
    assert not backend.space.untouched(8).is_inference()
    assert kernel.inplace == ((0, 0),)


def test_what_a_kernel_asks_for_is_memory_of_the_gpu(backend: Backend) -> None:
    """A workspace, what is kept, and no bytes at all."""
    assert make().compile(ops.Softmax(1), (TensorType("f32", (9, 5)),)).persistent_bytes > 0
    for shape in ((9, 5), (0, 5)):
        x = Input(TensorType("f32", shape), name="x")
        program = runtime.build(Graph.of([x], [ops.softmax(x, 1)]), backends=(backend,))
        value = np.ones(shape, np.float32)

        np.testing.assert_allclose(program(value)[0], value / 5)


def test_steps_may_share_scratch_memory(backend: Backend) -> None:
    """Each would have some megabytes of its own."""
    x = Input(TensorType("bf16", (300, 300)), name="x")
    y = ops.softmax(ops.softmax(x, 1), 1)
    program = runtime.build(Graph.of([x], [y]), backends=(backend,), results="torch")
    value = torch.linspace(-1, 1, 90_000, dtype=torch.bfloat16).view(300, 300)
    want = value.float().softmax(1).bfloat16().float().softmax(1).bfloat16()

    assert program(value)[0].equal(want)
    assert program(value)[0].equal(want)


def test_precision_is_set_for_a_run_and_restored(gpu: Any) -> None:
    """f32 means f32, also for convolutions, whose default in torch is TF32."""
    now = [getattr(of, name) for of, name, _ in cuda.settings(False)]
    for tf32, wanted in ((False, "ieee"), (True, "tf32")):
        with backend_on(gpu, tf32=tf32).around():  # type: ignore[misc]  # it has one
            *_, matmul, conv = [getattr(of, name) for of, name, _ in cuda.settings(False)]
            assert [matmul, conv] in ([wanted] * 2, [tf32] * 2)
    assert [getattr(of, name) for of, name, _ in cuda.settings(False)] == now


def test_memory_is_zeros_and_what_was_written(backend: Backend) -> None:
    space = backend.space
    memory = space.allocate(0)
    space.write(memory, 0, b"")
    assert bytes(space.read(memory, 0, 1)) == b"\0"

    space.write(memory, 0, memoryview(b"a"))

    assert bytes(space.read(memory, 0, 1)) == b"a"
    assert space.name == "cuda:0"


def test_memory_is_ordinary_also_within_a_run(backend: Backend) -> None:
    """A tensor made in inference mode could not be written by a feed, which is outside of it."""
    with torch.inference_mode():
        assert not backend.space.allocate(8).is_inference()


@pytest.mark.skipif(torch.cuda.is_available(), reason="here is a GPU")
def test_without_a_gpu_it_says_why() -> None:
    """And "auto" goes on to the next."""
    why = "built without CUDA" if not torch.backends.cuda.is_built() else "no GPU found by torch"

    with pytest.raises(
        PartError, match=f"'torch-cuda' of .* does not start: RuntimeError: .*{why}"
    ):
        parts.backend("torch-cuda")
    assert parts.backend("auto").space.name == "host"


def test_no_such_device() -> None:
    with pytest.raises(ValueError, match='device \'tpu:0\' is none of ours: "cpu", "cuda:0"'):
        make("tpu:0")
    with pytest.raises(ValueError, match="threads and keep_denormals are for the CPU"):
        make("cuda:0", threads=2)
    with pytest.raises(ValueError, match="tf32 is a way of GPUs to multiply"):
        make(tf32=True)


def test_torch_asks_for_a_missing_driver_or_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a build with CUDA says; here it is made believe."""
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(RuntimeError, match=r"no GPU found by torch .* for CUDA .*: \w"):
        cuda.find_gpu("cuda:0")

    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(RuntimeError, match="no cuda:2: torch sees 2, from cuda:0 to cuda:1"):
        cuda.find_gpu("cuda:2")
    assert cuda.find_gpu("cuda").device == torch.device("cuda:0")


def test_memory_of_another_backend_is_seen_where_it_is() -> None:
    """As `cuda` gives it, whose space has the same name: through DLPack, without a copy."""
    bytes_ = torch.arange(16, dtype=torch.uint8)

    class Memory:
        def __dlpack_device__(self) -> Any:
            return bytes_.__dlpack_device__()

        def __dlpack__(self, **asked: Any) -> Any:
            return bytes_.__dlpack__(**asked)

    space = cuda_space.CudaSpace(cuda_space.Gpu(0, torch.device("cpu"), double.Double()))
    seen = make().view(Memory(), 4, TensorType("i32", (2,)))
    space.write(Memory(), 4, b"\1\0\0\0")

    assert seen.tolist()[0] == 1 and seen.data_ptr() == bytes_.data_ptr() + 4
    assert bytes(space.read(Memory(), 0, 4)) == bytes([0, 1, 2, 3])
    space.writer(Memory(), 8, TensorType("i32", (1,)))(np.array([7], np.int32))
    assert bytes_[8] == 7

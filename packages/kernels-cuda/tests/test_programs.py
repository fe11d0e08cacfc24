"""Programs on GPUs that are not there: order of calls, recording, failures, what is left alive."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from doubled import adder, gpu_on

from byparts_graph_ir import Backend, Graph, Input, TensorType
from byparts_kernels_cuda import code
from byparts_kernels_cuda.driver.double import Double
from byparts_kernels_cuda.driver.errors import DeviceLost, DeviceMemoryError, DriverError
from byparts_kernels_cuda.driver.functions import FUNCTIONS
from byparts_kernels_cuda.gpu import Gpu

runtime = pytest.importorskip("byparts_runtime", reason="needs byparts-runtime")

ONES = np.ones(64, np.float32)


@pytest.fixture
def double() -> Double:
    return Double(memory_bytes=1 << 30)


@pytest.fixture
def gpu(double: Double) -> Gpu:
    return gpu_on(double)


@pytest.fixture
def backend(gpu: Gpu) -> Backend:
    return adder(gpu)


def step(backend: Backend, n: int = 64, **options: Any) -> tuple[Any, Any]:
    """(program, variable): gives w + x + x, and w becomes w + x."""
    kind = TensorType("f32", (n,))
    x, w = Input(kind, name="x"), Input(kind, name="w")
    weight = runtime.Variable("w", np.zeros(n, np.float32), space=backend.space)
    given = {"backends": (backend,), "variables": (weight,), "updates": (weight,)}
    return runtime.build(Graph.of([x, w], [w + x + x, w + x]), **given, **options), weight


def values(step: tuple[Any, Any], count: int = 3) -> list[float]:
    """What the program gives, run after run, and then the variable."""
    program, weight = step
    ones = np.ones(weight.shape, np.float32)
    return [*[float(program(ones)[0][-1]) for _ in range(count)], float(weight.read()[-1])]


@pytest.mark.parametrize("capture", [False, True])
def test_a_variable_is_updated_where_it_is(backend: Backend, capture: bool) -> None:
    assert values(step(backend, capture=capture)) == [2, 3, 4, 3]


def test_a_program_is_two_launches(double: Double, backend: Backend) -> None:
    """Its steps are one, what writes the variables another; neither is a launch of a kernel."""
    program, _ = step(backend)
    program(ONES)
    double.log = []

    program(ONES)

    launches = [name for name in double.log if "Launch" in name or "Alloc" in name]
    assert launches == ["cuGraphLaunch", "cuGraphLaunch"]
    assert "2 steps replayed as one CUDA graph" in str(program.explain())


def test_the_fetch_is_waited_for_before_the_variable_is_written(
    double: Double, backend: Backend
) -> None:
    program, _ = step(backend)
    program(ONES)
    double.log = []

    program(ONES)

    order = [name for name in double.log if "Ctx" not in name and "Event" not in name]
    assert order == [
        *("cuMemcpyHtoDAsync_v2", "cuGraphLaunch", "cuStreamSynchronize"),
        *("cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "cuGraphLaunch"),
    ]


def test_a_thousand_builds_leave_nothing(double: Double, backend: Backend) -> None:
    values(step(backend))
    gc.collect()
    before = double.alive()

    for i in range(1000):
        values(step(backend, 64 + i % 2, capture=bool(i % 3)), 1)
    gc.collect()

    assert double.alive() - before == {"module": 1}  # of 65 elements


def test_memory_is_as_it_was_when_programs_are_gone(double: Double, backend: Backend) -> None:
    made = [step(backend) for _ in range(3)]
    for one in made:
        values(one)
    space = double.alive()["memory"]

    del made, one
    gc.collect()

    assert space >= 6 and double.alive()["memory"] == 0 == double.alive()["executable"]


def test_two_gpus_compute_each_on_its_own(double: Double) -> None:
    first, second = (step(adder(gpu_on(double, i))) for i in (0, 1))

    assert values(first) == values(second) == [2, 3, 4, 3]


def test_what_two_gpus_make_is_copied_from_one_to_the_other(double: Double) -> None:
    pytest.importorskip("byparts_optimize", reason="needs byparts-optimize")
    kind = TensorType("f32", (64,))
    x, w = Input(kind, name="x"), Input(kind, name="w")
    backends = tuple(adder(gpu_on(double, i)) for i in (0, 1))
    weight = runtime.Variable("w", ONES, space=backends[1].space)

    program = runtime.build(
        Graph.of([x, w], [w + x]), backends=backends, variables=(weight,), updates=()
    )

    assert program(ONES)[0].tolist() == [2] * 64


def test_threads_run_programs_of_one_gpu(backend: Backend) -> None:
    programs = [step(backend) for _ in range(4)]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(values, programs)) == [[2, 3, 4, 3]] * 4


def test_an_arena_that_does_not_fit_says_what_it_needs() -> None:
    backend = adder(gpu_on(Double(memory_bytes=1 << 24)))
    said = "bytes were asked for, and .* of 16,777,216 are free"

    with pytest.raises(DeviceMemoryError, match=said) as caught:
        step(backend, 1 << 21)

    notes = getattr(caught.value, "__notes__", [str(caught.value)])
    assert "33,554,432" not in notes or any("for an arena of" in note for note in notes)


FREES = {name for name in FUNCTIONS if "Destroy" in name or "Free" in name or "Unload" in name}
BUILDS = sorted(FUNCTIONS.keys() - FREES - {"cuGetErrorName", "cuGetErrorString"})


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("nth", [1, 2])
def test_whatever_fails_is_an_error_and_leaves_the_variables(
    double: Double, backend: Backend, name: str, nth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call in turn; a second program, made before, computes on as if nothing had been."""
    monkeypatch.setattr(code, "_functions", {})  # loaded anew
    weight = runtime.Variable("w", ONES, space=backend.space)
    kind = TensorType("f32", (64,))
    x, w = Input(kind, name="x"), Input(kind, name="w")
    graph = Graph.of([x, w], [w + x + x, w + x])
    double.refuse(name, nth)

    try:
        program = runtime.build(
            graph, backends=(backend,), variables=(weight,), updates=(weight,), capture=False
        )
        assert program(ONES)[0].tolist() == [3] * 64
        failed = False
    except DriverError as error:
        failed, notes = True, getattr(error, "__notes__", [str(error)])

    double.accept()
    if name == "cuMemcpyDtoDAsync_v2" and failed:  # the copy over the old value is made again
        failed = "the variables have their new values" not in str(notes)
    assert weight.read()[0] == (1 if failed else 2)


@pytest.mark.parametrize("name", ["cuStreamBeginCapture_v2", "cuStreamEndCapture"])
def test_what_cannot_be_recorded_runs_step_by_step(
    double: Double, backend: Backend, name: str
) -> None:
    double.refuse(name, times=9)

    made = step(backend)

    assert values(made) == [2, 3, 4, 3]
    assert "not captured: CUDA cannot record it: " + name in str(made[0].explain())


def test_a_failed_launch_of_a_recording_leaves_the_variables(
    double: Double, backend: Backend
) -> None:
    """The first graph computes, the second writes the variable: neither may fail half-way."""
    made = step(backend)
    for nth, want in ((1, 0), (2, 0)):
        double.refuse("cuGraphLaunch", nth)
        with pytest.raises(DriverError, match="cuGraphLaunch failed with 999"):
            made[0](ONES)
        assert float(made[1].read()[0]) == want

    assert values(made) == [2, 3, 4, 3]


def test_a_lost_gpu_is_told_by_whoever_waits_next(double: Double, backend: Backend) -> None:
    program, weight = step(backend)
    double.refuse("cuStreamSynchronize", status=700)

    with pytest.raises(DeviceLost, match="restart the process") as caught:
        program(ONES)

    notes = " ".join(getattr(caught.value, "__notes__", [str(caught.value)]))
    assert "the variables are as they were before this run" in notes
    with pytest.raises(DeviceLost, match="restart the process"):
        weight.read()

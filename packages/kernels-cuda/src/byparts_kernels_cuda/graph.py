"""Many launches as one call: a CUDA graph, recorded once and launched at each run.

A launch costs the host some 5 us, so a GPU waits for the host in most small programs.  What a
program runs has its place in memory for good, which is just what a graph needs.  Nothing is run to
record it.  https://docs.nvidia.com/cuda/cuda-c-programming-guide/#cuda-graphs
"""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import byref, c_void_p

from byparts_graph_ir import CaptureRefused
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_cuda.driver.errors import DeviceLost, DriverError
from byparts_kernels_cuda.gpu import Gpu
from byparts_kernels_cuda.stream_call import StreamCall, calls_of, run_of


def record(gpu: Gpu, runs: Sequence[Run], warm: bool) -> Run:
    """Record runs as one CUDA graph; returns a run that does the same as all of them.

    Args:
        gpu: where.
        runs: calls on its stream, copies of arrays.
        warm: whether they may fail, as what reads indices may; an update must not.

    Raises:
        CaptureRefused: one of them needs Python, or the driver does not let it be recorded.
        DeviceLost: the GPU has failed.
    """
    parts = [part for run in runs for part in calls_of(run)]
    calls = [part for part in parts if isinstance(part, StreamCall)]
    told = [part for part in parts if not isinstance(part, StreamCall)]
    if told and not warm:
        raise CaptureRefused("an index may be out of range, and an update must not fail")
    if not calls:
        return run_of(gpu, ())
    try:
        executable = _Executable(gpu, calls)
    except DeviceLost:
        raise
    except DriverError as error:  # whatever it was, the plain runs may do
        raise CaptureRefused(f"CUDA cannot record it: {error}") from error
    launch = gpu.driver.cuGraphLaunch
    replay = StreamCall.of(launch, executable.handle, gpu.stream, at=1, kept=(executable,))
    return run_of(gpu, (replay,), told)


class _Executable:
    """A graph that can be launched; the arguments of its launches were copied into it."""

    def __init__(self, gpu: Gpu, calls: Sequence[StreamCall]) -> None:
        self.gpu, self.handle = gpu, 0
        self._kept = [call.kept for call in calls]
        with gpu.lock, gpu:
            graph = c_void_p(_recorded(gpu, calls))
            try:
                executable = c_void_p()
                gpu.driver.cuGraphInstantiateWithFlags(byref(executable), graph, 0)
                self.handle = executable.value or 0
            finally:
                gpu.driver.cuGraphDestroy(graph)

    def __del__(self) -> None:
        if self.handle:
            self.gpu.release("cuGraphExecDestroy", self.handle)


def _recorded(gpu: Gpu, calls: Sequence[StreamCall]) -> int:
    """The graph of these calls."""
    gpu.begin_recording()
    try:
        for call in calls:
            call.on(gpu.recording)()
    except BaseException:
        gpu.abandon_recording()
        raise
    return gpu.end_recording()

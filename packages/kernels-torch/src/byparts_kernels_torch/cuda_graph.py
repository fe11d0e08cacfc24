"""Many kernels launched by one call: a CUDA graph, recorded once and replayed at each run.

A launch costs the host some 5 us, so a GPU waits for the host in most small programs.  A recorded
graph is launched whole.  What a program runs has its place in memory for good, which is just what a
graph needs.  https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from byparts_graph_ir import CaptureRefused
from byparts_graph_ir.backend.kernel import Run
from byparts_graph_ir.fork import make_lock
from byparts_kernels_torch.cuda_space import Gpu

_ONE = make_lock()


def record(gpu: Gpu, runs: Sequence[Run], warm: bool) -> Run:
    """Record the runs as a CUDA graph; returns a run that replays all of them.

    Args:
        gpu: where.
        runs: launches only; what waits for the GPU cannot be recorded.
        warm: run them before, on a stream of their own: libraries load and choose kernels at the
            first call, which must not happen while recording.

    Raises:
        CaptureRefused: CUDA does not let one of them be recorded.
    """
    try:
        if warm:
            _warm_up(gpu, runs)
        graph = gpu.api.CUDAGraph()
        _record(gpu, graph, runs)
    except Exception as error:  # whatever it was, the plain runs may do
        why = str(error).partition("\n")[0] or type(error).__name__
        raise CaptureRefused(f"CUDA cannot record it: {why}") from error
    return partial(_replay_of(graph), graph)


def _record(gpu: Gpu, graph: Any, runs: Sequence[Run]) -> None:
    """Launch them into the graph.

    What torch itself keeps for recordings must be no tensors of inference mode, else the next
    recording outside of it, by whomever, could not write them (pytorch/pytorch#166792).
    """
    # Calls of other threads are their own business, but there is one recording at a time.
    options = {"stream": gpu.recording, "capture_error_mode": "thread_local"}
    recording = gpu.api.graph(graph, **options)
    here = gpu.api.stream(gpu.stream())  # one that is broken off leaves its stream the current one
    usual, mine = torch.inference_mode(False), torch.inference_mode()
    with _ONE, gpu.api.device(gpu.index), here, usual, recording, mine:
        _run_all(runs)


def _warm_up(gpu: Gpu, runs: Sequence[Run]) -> None:
    here, side = gpu.stream(), gpu.warming
    side.wait_stream(here)
    with gpu.api.stream(side):
        _run_all(runs)
    here.wait_stream(side)


def _run_all(runs: Sequence[Run]) -> None:
    for run in runs:
        run()


def _replay_of(graph: Any) -> Any:
    """The C function below the Python method: nothing can come in between."""
    below = getattr(torch._C, "_CUDAGraph", None)
    return below.replay if below is not None and isinstance(graph, below) else type(graph).replay

"""One step of a workload, by us and by torch, as functions of no arguments that give the loss.

All tensors are on the device before; a step leaves its result there.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any

import torch

from byparts_graph_ir import Backend, Graph, Input, TensorType
from byparts_kernels_torch import make
from byparts_kernels_torch.cuda import on_gpu
from byparts_kernels_torch.cuda_space import Gpu
from byparts_runtime import Variable, build
from gpu import words
from gpu.generated import updates
from gpu.workloads import Workload

Step = Callable[[], torch.Tensor]
PRECISIONS = ("f32", "tf32", "bf16")  # tf32: f32 tensors, products with 10 bits


def backend_of(device: str, precision: str) -> Backend:
    """Ours on "cpu", "cuda:0", or "double": a GPU that is not there."""
    if device != "double":
        return make(device, tf32=precision == "tf32")
    from cuda_double import Double  # of the tests: on the path of `checkout.py`

    api = ExitStack().enter_context(Double())  # until the process ends
    return on_gpu(make(), Gpu(0, torch.device("cpu"), api), precision == "tf32")


def ours(work: Workload, device: str, precision: str, *, capture: Any) -> tuple[Step, str]:
    """The step of a program, and what it says of itself."""
    backend = backend_of(device, precision)
    kind = "bf16" if precision == "bf16" else "f32"
    inputs, weights = (tensors(of, device, precision) for of in (work.inputs, work.weights))
    values = {
        k: Input(TensorType(kind, tuple(t.shape)), name=k) for k, t in (inputs | weights).items()
    }
    loss = work.define(words.ours(), values)
    feeds = [values[k] for k in inputs]
    old, new, starts = updates(work, loss, [values[k] for k in weights])
    begin = {**weights, **starts}
    variables = tuple(Variable(v.name, begin.get(v.name, v.type), space=backend.space) for v in old)
    options: dict[str, Any] = {"variables": variables, "updates": variables, "capture": capture}
    graph = Graph.of((*feeds, *old), (loss, *new))
    program = build(graph, backends=(backend,), results=backend, **options)
    said = program.explain().partition("\ncapture    ")[2].partition("\n")[0]
    arena = f"{len(program.steps)} steps, arena {program.plan.arena_bytes / 1e6:.1f} MB"
    bound = program.bind(*inputs.values())  # lets go of the program's own arena
    return lambda: bound()[0], f"{arena}; {said}" if said else arena


def theirs(work: Workload, device: str, precision: str, mode: str) -> Step:
    """The step of torch: "eager", or a mode of `torch.compile`."""
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.allow_tf32 = precision == "tf32"
    inputs, weights = (tensors(of, device, precision) for of in (work.inputs, work.weights))
    model: Any = Model(work, weights)
    run = model
    if mode != "eager":
        torch._dynamo.reset()
        for x in inputs.values():
            torch._dynamo.mark_static_address(x)  # a recorded graph need not copy them: nor do we
        run = torch.compile(model, mode=None if mode == "default" else mode)
    if not work.optimizer:
        return partial(_output, run, inputs)
    kind = torch.optim.Adam if work.optimizer == "adam" else torch.optim.SGD
    fused = device.startswith("cuda")  # on the CPU it leaves most weights of bf16 as they are
    optimizer: Any = kind(model.parameters(), lr=work.rate, fused=fused)

    def step() -> torch.Tensor:
        torch.compiler.cudagraph_mark_step_begin()
        loss: torch.Tensor = run(inputs)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


class Model(torch.nn.Module):  # type: ignore[misc]  # of unknown type where torch is absent
    """The workload as a module, as torch wants it: recorded graphs know its weights' places."""

    def __init__(self, work: Workload, weights: dict[str, torch.Tensor]) -> None:
        super().__init__()
        self.work, self.words = work, words.of_torch()
        self.named = {k: f"weight_{k.replace('.', '_')}" for k in weights}
        for k, w in weights.items():
            self.register_parameter(self.named[k], torch.nn.Parameter(w))

    def forward(self, inputs: dict[str, torch.Tensor]) -> Any:
        """The loss, or the output."""
        weights = {k: getattr(self, n) for k, n in self.named.items()}
        return self.work.define(self.words, {**inputs, **weights})


def tensors(arrays: dict[str, Any], device: str, precision: str) -> dict[str, torch.Tensor]:
    """The arrays on the device, in the dtype of this precision."""
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    where = "cpu" if device == "double" else device
    return {k: torch.tensor(a, dtype=dtype, device=where) for k, a in arrays.items()}


def _output(run: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
    torch.compiler.cudagraph_mark_step_begin()
    with torch.no_grad():
        y: torch.Tensor = run(inputs)
    return y

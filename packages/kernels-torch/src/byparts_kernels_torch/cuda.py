"""The backend on one NVIDIA GPU: the same kernels, the memory and the context of a GPU.

bf16 is a matter of the graph's dtypes: what is bf16 there is computed in bf16.  f32 is computed in
f32 unless TF32 is asked for, also where torch by itself would not (convolutions).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from byparts_graph_ir import Backend, GraphError
from byparts_kernels_torch.context import WithoutAutograd
from byparts_kernels_torch.cuda_graph import record
from byparts_kernels_torch.cuda_space import CudaSpace, Gpu


def on_gpu(host: Backend, gpu: Gpu, tf32: bool) -> Backend:
    """The backend `host`, computing on a GPU.

    Args:
        host: kernels, views and passes.
        gpu: where.
        tf32: products of f32 may round their inputs to 10 bits, some eight times faster.
    """
    return Backend(
        "torch-cuda" + f":{gpu.index}" * (gpu.index > 0),
        host.view,
        host.kernels,
        space=CudaSpace(gpu),
        around=partial(CudaContext, gpu, tuple(settings(tf32))),
        passes=host.passes,
        capture=partial(record, gpu),
        copy=host.copy,
        lacks=host.lacks,
    )


def find_gpu(name: str) -> Gpu:
    """The GPU of this name, "cuda" or "cuda:1".

    Raises:
        RuntimeError: torch does not see it; says why.
        GraphError: it is no name of a GPU.
    """
    device = torch.device(name) if name.partition(":")[0] == "cuda" else None
    if device is None:
        raise GraphError(f'device {name!r} is none of ours: "cpu", "cuda:0", "cuda:1", ...')
    index = device.index or 0
    if not torch.backends.cuda.is_built():
        raise RuntimeError(
            f"torch {torch.__version__} is built without CUDA; a build with it comes from "
            "https://pytorch.org/get-started"
        )
    count = torch.cuda.device_count()
    if count == 0:
        built = f"torch {torch.__version__} for CUDA {torch.version.cuda}"
        raise RuntimeError(f"no GPU found by {built}: {_why_none()}")
    if index >= count:
        raise RuntimeError(f"no cuda:{index}: torch sees {count}, from cuda:0 to cuda:{count - 1}")
    return Gpu(index, torch.device("cuda", index))


Setting = tuple[Any, str, Any]  # of an object, an attribute, the value it shall have


def settings(tf32: bool) -> list[Setting]:
    """Settings of torch's products: process-wide, so set for a run and restored after it."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    half = [(matmul, f"allow_{t}_reduced_precision_reduction", False) for t in ("fp16", "bf16")]
    if hasattr(matmul, "fp32_precision"):  # torch >= 2.9
        how = "tf32" if tf32 else "ieee"
        return [*half, (matmul, "fp32_precision", how), (cudnn.conv, "fp32_precision", how)]
    return [*half, (matmul, "allow_tf32", tf32), (cudnn, "allow_tf32", tf32)]


class CudaContext:
    """For one run: no autograd, the GPU, its settings."""

    __slots__ = ("_before", "_device", "_guard", "_settings")

    def __init__(self, gpu: Gpu, settings: tuple[Setting, ...]) -> None:
        self._settings, self._device = settings, gpu.api.device(gpu.index)

    def __enter__(self) -> None:
        self._guard = WithoutAutograd(True)
        self._guard.__enter__()
        self._device.__enter__()
        now = [(of, name, getattr(of, name), value) for of, name, value in self._settings]
        self._before = [(of, name, old) for of, name, old, value in now if old != value]
        for of, name, old, value in now:
            if old != value:  # half of a microsecond each
                setattr(of, name, value)

    def __exit__(self, *raised: Any) -> None:
        for of, name, old in self._before:
            setattr(of, name, old)
        self._device.__exit__(*raised)
        self._guard.__exit__(*raised)


def _why_none() -> str:
    try:
        torch.cuda.init()
    except Exception as error:
        return str(error).partition("\n")[0]
    return "the driver lists none; CUDA_VISIBLE_DEVICES may hide them"

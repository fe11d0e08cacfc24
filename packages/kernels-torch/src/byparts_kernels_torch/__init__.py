"""Every op on PyTorch, on the CPU or a GPU, into memory the plan chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from byparts_graph_ir import Backend


def make(
    device: str = "cpu",
    threads: Optional[int] = None,
    *,
    keep_denormals: bool = False,
    tf32: bool = False,
) -> Backend:
    """The backend; loads torch and the kernels.

    Args:
        device: "cpu", whose memory is the host's, or "cuda:0".
        threads: how many torch may use while a program runs; by default as it is set.  A forked
            child uses one: torch's other threads are not copied.
        keep_denormals: compute with numbers below 1.2e-38 too, slowly; by default they are zero.
        tf32: on a GPU, products of f32 may round what they multiply to 10 bits, eight times faster.
            bf16 needs no switch: what is bf16 in the graph is computed so.

    Raises:
        RuntimeError: torch does not see the device; says why.
        GraphError: no such device, or what was asked for is for another one.
    """
    from byparts_kernels_torch.backend import make_backend  # torch is not needed before

    return make_backend(device, threads, keep_denormals, tf32)


def make_cuda() -> Backend:
    """The backend on the first GPU: what the hub calls "torch-cuda".

    Raises:
        RuntimeError: torch sees no GPU; says why.
    """
    return make("cuda:0")


__version__ = "0.2.0"

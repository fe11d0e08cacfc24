"""Serial loops become kernels: what is shared among blocks and threads, and where they meet."""

from __future__ import annotations

from byparts_gpu_ir.mapping.map import mapped

__all__ = ["mapped"]

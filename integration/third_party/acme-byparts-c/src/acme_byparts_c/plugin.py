"""What this part tells byparts; imports nothing else."""

from __future__ import annotations

from byparts_graph_ir.parts.hooks import Backend, hookimpl

BYPARTS_API = (1, 0)


@hookimpl
def byparts_backends() -> list[Backend]:
    """Computes in the memory of the process, as NumPy does; for what it lacks, put NumPy behind."""
    load = "acme_byparts_c.backend:make"
    return [Backend("c", load, needs=("numpy",), priority=-10, doc="generated C, with gcc")]

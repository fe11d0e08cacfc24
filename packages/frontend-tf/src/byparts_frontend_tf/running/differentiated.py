"""Whether a gradient of this run passes through an operation: the host computes none."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.graph.operation import Operation


def gradient_passes(run: Any, op: Operation) -> bool:
    """Whether this run differentiates with respect to what an operation depends on, through it."""
    todo = [t for t in op.outputs if t.dtype.is_floating]
    seen = set(todo)
    while todo:
        for reader in todo.pop().consumers():
            if reader not in run.operations:
                continue
            if reader.type == "SymbolicGradient":
                if any(t in seen for t in reader.inputs[: reader.attributes["ys"]]):
                    return True
                continue
            more = [t for t in reader.outputs if t.dtype.is_floating and t not in seen]
            seen.update(more)
            todo += more
    return False

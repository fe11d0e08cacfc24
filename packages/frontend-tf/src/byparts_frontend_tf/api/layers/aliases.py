"""Names that layers of contrib give their outputs, beside those of the operations."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.graph.scopes import add_to_collection


def alias_of(tensor: Any) -> list[str]:
    """The names given to a tensor, else that of its operation."""
    found: list[str] = tensor.__dict__.get("aliases") or [tensor.op.name]
    return found


def named_output(y: Any, collections: Any, alias: str) -> Any:
    """The tensor under a name of its own, added to collections."""
    keys = [collections] if isinstance(collections, str) else list(collections or ())
    y.__dict__.setdefault("aliases", []).append(alias.rstrip("/"))
    for key in keys:
        add_to_collection(key, y)
    return y

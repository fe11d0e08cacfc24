"""Functions of modules above, which the graph needs when it is used and not when it is imported.

Stacking a list of tensors, `tensor.eval()` and the operators are functions of `api/` and
`running/`.  They are named by strings, so that modules import in one direction.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

PACKAGE = __name__.rpartition(".graph.")[0]


@cache
def late(place: str) -> Any:
    """The object "module:name" of this part."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"{PACKAGE}.{module}"), name)

"""Refuses to pickle what is bound to the memory of a process, and says what to send instead.

A copy of a variable in another process would be another variable, which no program here writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from byparts_graph_ir import GraphError


def stays(advice: str) -> Callable[[Any], NoReturn]:
    """A `__reduce__` that refuses, with advice on what to do in the other process."""

    def refuse(thing: Any) -> NoReturn:
        kind = type(thing).__name__
        name = f"{kind} {thing.name!r}" if hasattr(thing, "name") else kind
        raise GraphError(
            f"{name} cannot be pickled: it is bound to the memory of this process; {advice}"
        )

    return refuse

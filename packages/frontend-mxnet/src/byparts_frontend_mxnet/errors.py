"""Errors of programs of MXNet; `MXNetError` is what such programs catch."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from byparts_graph_ir import GraphError


class MXNetError(GraphError, RuntimeError):
    """Something that MXNet refuses, too, with what to do."""


class UnknownName(MXNetError, AttributeError):
    """A name that is not there.  The close ones are sought when it is shown: `hasattr` drops it."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        super().__init__(what, name, known)

    def __str__(self) -> str:
        what, name, known = self.args
        names = sorted(map(str, known))
        near = get_close_matches(str(name), names, 3, 0.5) or (names if len(names) < 9 else [])
        hint = f"; close names: {', '.join(near)}" if near else ""
        return f"{what} has no {name!r}{hint}"


class DeferredInitializationError(MXNetError):
    """A parameter is read whose shape nothing has told yet."""


def unknown(what: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error of a name that is not there, with close names that are."""
    return UnknownName(what, name, known)

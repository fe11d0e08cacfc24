"""Errors of programs of MXNet; `MXNetError` is what such programs catch."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from byparts_graph_ir import GraphError


class MXNetError(GraphError, RuntimeError):
    """Something that MXNet refuses, too, with what to do."""


class UnknownName(MXNetError, AttributeError):
    """A name that is not there."""


class DeferredInitializationError(MXNetError):
    """A parameter is read whose shape nothing has told yet."""


def unknown(what: str, name: str, known: Iterable[str]) -> UnknownName:
    """The error of a name that is not there, with close names that are."""
    near = get_close_matches(name, list(known), 3, 0.5)
    hint = f"; close names: {', '.join(near)}" if near else ""
    return UnknownName(f"{what} has no {name!r}{hint}")

"""The call of a module: open shapes, what compiled functions depend on, errors, watchers."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from byparts_eager import asarray, depends_on, shapes_from_call
from byparts_graph_ir import GraphError, TensorType, Value, add_note
from byparts_graph_ir.errors import refusal

if TYPE_CHECKING:
    from byparts_nn.module import Module

NOTHING: Mapping[str, Any] = MappingProxyType({})
Watcher = Callable[["Module", tuple[Any, ...], Any], None]


class _Here(threading.local):
    """The state of one thread."""

    finding = False  # shapes of open parameters
    watchers: tuple[Watcher, ...] = ()


_here = _Here()


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call `watcher(module, arguments, result)` after each call of a module in this thread."""
    before = _here.watchers
    _here.watchers = (*before, watcher)
    try:
        yield
    finally:
        _here.watchers = before


def init(model: Module, *types: TensorType | Value | np.ndarray[Any, Any]) -> Module:
    """Find the shapes that the model leaves open, for a call on arguments of these types.

    Returns:
        the model.

    Raises:
        GraphError: the model cannot be called on them, or a shape stays open.
    """
    fit_shapes(model, model, types)
    return model


def called(call: Callable[..., Any]) -> Callable[..., Any]:
    """`__call__` of a module as its class defines it, with what this page is about."""

    @functools.wraps(call)
    def run(self: Module, *args: Any, **keywords: Any) -> Any:
        for x in args:
            if x.__class__ is np.ndarray:
                args = tuple(map(_array, args))
                break
        if keywords:
            keywords = {name: _array(x) for name, x in keywords.items()}
        depends_on(self)
        try:
            if "_ready" not in self.__dict__ and not _here.finding:
                fit_shapes(self, functools.partial(call, self), args, keywords)
            result = call(self, *args, **keywords)
        except GraphError as error:
            _say_where(error, self, args)
            raise
        for watcher in _here.watchers:
            watcher(self, args, result)
        return result

    return run


def _array(x: Any) -> Any:
    return asarray(x) if isinstance(x, np.ndarray) else x


def fit_shapes(
    model: Module, call: Callable[..., Any], args: Any, keywords: Mapping[str, Any] = NOTHING
) -> None:
    """Give the cells of `model` that are of open shape one, from a call on these arguments."""
    if not hasattr(model, "cells"):
        raise refusal("init", "model", model, "a Module")
    if any(cell.is_open for cell in model.cells().values()):
        _here.finding = True
        try:
            shapes_from_call(call, args, dict(keywords))
        finally:
            _here.finding = False
    model.__dict__["_ready"] = True


def _say_where(error: GraphError, module: Module, args: tuple[Any, ...]) -> None:
    """Note the innermost module that raised, with its path in the outermost one that is known."""
    where = error.__dict__
    if "module" not in where:
        where["module"] = module
        where["given"] = ", ".join(str(a.type) for a in args if isinstance(a, Value))
    inner = where["module"]
    path = next((path for path, m in module.modules() if m is inner), "")
    note = f"in module {path!r} ({type(inner).__name__}) on ({where['given']})"
    if "module_note" in where:
        _drop_note(error, where["module_note"])
    where["module_note"] = note
    add_note(error, note)


def _drop_note(error: GraphError, note: str) -> None:
    """Take out a note of a module further in, which did not know the whole path."""
    notes = getattr(error, "__notes__", None)
    if notes is not None:
        notes.remove(note)
    else:  # Python 3.10: notes are lines of the message
        error.args = (str(error.args[0]).replace(f"\n  {note}", ""), *error.args[1:])

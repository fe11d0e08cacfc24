"""Lists and dicts that stand in fields of modules: changing them counts as a change of the module.

A compiled function depends on the modules it calls: on their plain fields, and on which modules
stand where.  `Module.__setattr__` sees an assignment, but not `self.layers.append(...)`; so a list
or a dict that is assigned to a field is kept as a `FieldList` or a `FieldDict`, which tell.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import Any

from byparts_eager import Cell, changed
from byparts_graph_ir import Value


class FieldList(list[Any]):
    """A list in a field of a module."""


class FieldDict(dict[Any, Any]):
    """A dict in a field of a module."""


def _telling(method: Callable[..., Any], own: Callable[[Any], None]) -> Callable[..., Any]:
    @functools.wraps(method)
    def run(self: Any, *args: Any, **keywords: Any) -> Any:
        result = method(self, *args, **keywords)
        own(self)  # what was put in may be a list, too
        changed()
        return result

    return run


def _own_items(items: list[Any]) -> None:
    for i, item in enumerate(items):
        if type(item) in (list, dict, tuple):
            list.__setitem__(items, i, tracked(item))


def _own_values(items: dict[Any, Any]) -> None:
    for key, item in items.items():
        if type(item) in (list, dict, tuple):
            dict.__setitem__(items, key, tracked(item))


_OF_LISTS = (
    "append extend insert remove pop clear sort reverse __setitem__ __delitem__ __iadd__ __imul__"
)
_OF_DICTS = "clear pop popitem setdefault update __setitem__ __delitem__ __ior__"
for _name in _OF_LISTS.split():
    setattr(FieldList, _name, _telling(getattr(list, _name), _own_items))
for _name in _OF_DICTS.split():
    setattr(FieldDict, _name, _telling(getattr(dict, _name), _own_values))


def tracked(value: Any) -> Any:
    """Return `value`; a list or dict, also inside of one or of a tuple, as one that tells."""
    if type(value) is list:
        return FieldList(map(tracked, value))
    if type(value) is dict:
        return FieldDict({key: tracked(item) for key, item in value.items()})
    if type(value) is tuple:
        return tuple(map(tracked, value))
    return value


def parts_of(name: str, value: object) -> list[tuple[str, Any]]:
    """(path, thing) for `value` and what stands in its lists, tuples and dicts: 'layers.0'."""
    if isinstance(value, (list, tuple)):
        items = [(f"{name}.{i}", item) for i, item in enumerate(value)]
    elif isinstance(value, dict):
        items = [(f"{name}.{key}", item) for key, item in value.items()]
    else:
        return [(name, value)]
    return [part for path, item in items for part in parts_of(path, item)]


class _Same:
    """An object that cannot be hashed, compared by identity."""

    __slots__ = ("thing",)

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.thing is self.thing

    def __hash__(self) -> int:
        return id(self.thing)


def content(value: object) -> Hashable:
    """Hashable content of a field: numbers with their type, lists by items, others by identity."""
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(content, value))
    if isinstance(value, dict):
        return ("dict", *[(key, content(item)) for key, item in value.items()])
    if isinstance(value, Cell):
        return (value, value.trainable)
    if isinstance(value, Value):  # equality of arrays is an array
        return _Same(value)
    try:
        hash(value)
    except TypeError:
        return _Same(value)
    # 1, 1.0 and True are equal, and so are 0.0 and -0.0; they compute different things.
    return (type(value), repr(value)) if isinstance(value, (int, float)) else value

"""`dataclass(frozen=True)`, whose methods are written at the first use of a class.

    from byparts_graph_ir.lazy_dataclass import dataclass

The standard library's decorator takes 0.6 ms a class and importing it 12 ms.  An op set has 130
ops, and a program that runs ten of them should not wait for the others.  Here decorating takes 5
us: `__init__` is written when it is first called, the other methods are shared by all classes.  To
everybody else the class is an ordinary frozen dataclass: `dataclasses.fields`, `replace`, `match`
and `__post_init__` work, and ops made with the standard decorator mix with these.

Left out, and an error: `slots`, `order`, `kw_only`, `field(...)`.  Use the standard one for those.
"""

from __future__ import annotations

import sys
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass, replace as replace
    from typing import Any

_METHODS = ("__init__", "__setattr__", "__delattr__", "__repr__", "__eq__", "__hash__")


class _Fields:
    """Stands where `dataclasses` looks for the fields of a class; makes them when it does."""

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        import dataclasses  # whoever asks has paid for it

        body: dict[str, Any] = _defaults(owner)
        body["__annotations__"] = {n: _definer(owner, n)[1] for n in _names(owner)}
        twin: Any = dataclasses.dataclass(type(owner.__name__, (), body))
        found: dict[str, Any] = twin.__dataclass_fields__
        if "__dataclass_fields__" in vars(owner):
            owner.__dataclass_fields__ = found  # type: ignore[attr-defined]
        return found


class _Parameters:
    """What `dataclasses` wants to know of a base class."""

    init = repr = eq = frozen = True
    order = unsafe_hash = False


def _dataclass(cls: Any = None, /, *, frozen: bool, eq: bool = True) -> Any:
    if cls is None:
        return lambda cls: _dataclass(cls, frozen=frozen, eq=eq)
    assert frozen, f"{cls.__name__}: only frozen classes are made lazily"
    inherited = getattr(cls, "__match_args__", ())
    said = vars(cls).get("__annotations__") or _raw_annotations(cls)
    names = [n for n, kind in said.items() if not str(kind).startswith("ClassVar")]
    setattr(cls, "__match_args__", tuple(dict.fromkeys((*inherited, *names))))  # noqa: B010
    cls.__dataclass_fields__, cls.__dataclass_params__ = _Fields(), _Parameters
    own = set(vars(cls))
    for method in _METHODS if eq else _METHODS[:4]:
        if method not in own or (method == "__hash__" and vars(cls)[method] is None):
            setattr(cls, method, _STAND_INS[method])
    return cls


def _replace(instance: Any, /, **changes: Any) -> Any:
    """A copy with other values in some fields, as `dataclasses.replace`."""
    for name in field_names(type(instance)):
        changes.setdefault(name, getattr(instance, name))
    return type(instance)(**changes)


def field_names(cls: Any) -> tuple[str, ...]:
    """The fields of any dataclass, lazy or not, in order; does not import `dataclasses`."""
    names = _known.get(cls)
    if names is None:
        lazy = isinstance(_raw(cls, "__dataclass_fields__"), _Fields)
        names = cls.__match_args__ if lazy else tuple(cls.__dataclass_fields__)
        _known[cls] = names
    return names


_known: dict[type, tuple[str, ...]] = {}


def field_defaults(cls: Any) -> dict[str, Any]:
    """Those of its fields that may be left out, and their values; of some, what makes a value."""
    if isinstance(_raw(cls, "__dataclass_fields__"), _Fields):
        return _defaults(cls)
    from dataclasses import MISSING, fields  # it is made with that

    found = {
        f.name: f.default if f.default_factory is MISSING else f.default_factory
        for f in fields(cls)
    }
    return {name: default for name, default in found.items() if default is not MISSING}


def field_annotations(cls: Any) -> dict[str, tuple[object, dict[str, Any]]]:
    """Of each field its annotation, text or type, and the names that its module knows."""
    found: dict[str, tuple[object, dict[str, Any]]] = {}
    for definer in reversed(cls.__mro__):
        module = sys.modules.get(definer.__module__)
        for name, said in _raw_annotations(definer).items():
            found[name] = (said, vars(module) if module is not None else {})
    return {name: found.get(name, (object, {})) for name in field_names(cls)}


def _raw(cls: type, name: str) -> object:
    """A class attribute as it stands in the body that says it."""
    return next((vars(c)[name] for c in cls.__mro__ if name in vars(c)), None)


if not TYPE_CHECKING:
    dataclass, replace = _dataclass, _replace


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    """Stand-in: write the real `__init__`; but a class without fields needs none."""
    cls: Any = next(c for c in type(self).__mro__ if vars(c).get("__init__") is _init)
    if cls.__match_args__ or args or kwargs:
        cls.__init__ = _written(cls)
        cls.__init__(self, *args, **kwargs)


def _written(cls: Any) -> Callable[..., None]:
    """`__init__` in Python text, compiled: called for every op that a program is built of."""
    defaults = _defaults(cls)
    scope: dict[str, Any] = {"_set": object.__setattr__, "_defaults": defaults}
    takes = [f"{n}=_defaults[{n!r}]" if n in defaults else n for n in _names(cls)]
    lines = [f"def __init__({', '.join(['self', *takes])}):"]
    lines += [f" _set(self, {n!r}, {n})" for n in _names(cls)]
    lines += [*_POST_INIT] if hasattr(cls, "__post_init__") else [" pass"]
    exec("\n".join(lines), scope)  # names are identifiers: they come from a class body
    made: Any = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made  # type: ignore[no-any-return]


# A field of the wrong kind breaks a class's own checks in any way: the error says which field.
_POST_INIT = (
    " try: self.__post_init__()",
    " except Exception as error:",
    "  from byparts_graph_ir.field_types import wrong_field",
    "  raise wrong_field(self, error) from None",
)


def frozen_setattr(self: Any, name: str, value: object) -> None:
    """`__setattr__` of what is frozen.

    Raises:
        dataclasses.FrozenInstanceError: always.
    """
    _refuse(f"cannot assign to field {name!r}")


def frozen_delattr(self: Any, name: str) -> None:
    """`__delattr__` of what is frozen; likewise."""
    _refuse(f"cannot delete field {name!r}")


def _refuse(what: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(what)


def _repr(self: Any) -> str:
    given = ", ".join([f"{n}={_short(getattr(self, n))}" for n in self.__match_args__])
    return f"{type(self).__qualname__}({given})"


def _short(value: object) -> str:
    """The `repr` of a field; of long data only how it begins."""
    if isinstance(value, bytes) and len(value) > 40:
        return f"{value[:16]!r}... ({len(value)} bytes)"
    return repr(value)


def _eq(self: Any, other: object) -> Any:
    cls = type(self)
    if other.__class__ is not cls:
        return NotImplemented
    key = _key(cls)
    return key(self) == key(other)


def _hash(self: Any) -> int:
    return hash(_key(type(self))(self))


_keys: dict[type, Callable[[Any], Any]] = {}


def _key(cls: Any) -> Callable[[Any], Any]:
    """What instances are compared by."""
    key = _keys.get(cls)
    if key is None:
        names = cls.__match_args__
        key = _keys[cls] = attrgetter(*names) if names else lambda _: cls
    return key


def _names(cls: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = cls.__match_args__
    return names


def _defaults(cls: type) -> dict[str, Any]:
    """Those of its fields that have one; an attribute of a base that is no field is none."""
    found = {n: vars(_definer(cls, n)[0]).get(n, _defaults) for n in _names(cls)}
    return {n: default for n, default in found.items() if default is not _defaults}


def _definer(cls: type, name: str) -> tuple[type, str]:
    """The class whose body says the field, and its type as text."""
    return next((c, a[name]) for c in cls.__mro__ if name in (a := _annotations(c)))


def _annotations(cls: Any) -> dict[str, str]:
    """Those of its own body."""
    return {name: str(kind) for name, kind in _raw_annotations(cls).items()}


def _raw_annotations(cls: Any) -> dict[str, Any]:
    found: dict[str, Any] | None = vars(cls).get("__annotations__")
    if found is None:  # Python 3.14 keeps them elsewhere
        found = cls.__annotations__ if hasattr(cls, "__annotate__") else {}
    return found


_STAND_INS = dict(
    zip(_METHODS, (_init, frozen_setattr, frozen_delattr, _repr, _eq, _hash), strict=True)
)

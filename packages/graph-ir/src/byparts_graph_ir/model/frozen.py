"""`Frozen`, the base class of immutable values: a subclass says its fields, and needs no decorator.

    class Scale(Frozen):
        factor: float
        axes: tuple[int, ...] = ()

    Scale(2.0)  # Scale(factor=2.0, axes=())

The standard library's `dataclass` takes 400 us a class and importing it 15 ms; an op set has 130
ops, and a program that runs ten of them should not wait for the others.  Here a class takes 14 us,
of which a class without fields takes 8: `__init__` is written when it is first called, the other
methods are inherited.  To everybody else the class is a frozen dataclass: `dataclasses.fields` and
`replace`, `match` and `__post_init__` work.
"""

from __future__ import annotations

import sys
from functools import cache
from operator import attrgetter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from dataclasses import Field
    from typing import Any, ClassVar, TypeVar

    from typing_extensions import Self, dataclass_transform  # Python 3.11 has them in `typing`

    T = TypeVar("T")
else:  # `typing` is slow to import

    def dataclass_transform(**_: Any) -> Any:
        """At run time a class decorator that does nothing."""
        return lambda cls: cls


class _Fields:
    """Stands where `dataclasses` looks for the fields of a class; makes them when it does."""

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        import dataclasses  # whoever asks has paid for it

        body: dict[str, Any] = field_defaults(owner)
        body["__annotations__"] = {
            n: str(kind) for n, (kind, _) in field_annotations(owner).items()
        }
        twin: Any = dataclasses.dataclass(type(owner.__name__, (), body))
        fields: dict[str, Any] = twin.__dataclass_fields__
        owner.__dataclass_fields__ = fields  # type: ignore[attr-defined]
        return fields


class _Parameters:
    """The parameters that `dataclasses` reads about a base class."""

    init = repr = eq = frozen = True
    order = unsafe_hash = False


def frozen_setattr(self: object, name: str, value: object) -> None:
    """`__setattr__` of an immutable class.

    Raises:
        dataclasses.FrozenInstanceError: always.
    """
    _refuse(f"cannot assign to field {name!r}")


def frozen_delattr(self: object, name: str) -> None:
    """`__delattr__` of an immutable class.

    Raises:
        dataclasses.FrozenInstanceError: always.
    """
    _refuse(f"cannot delete field {name!r}")


def _refuse(message: str) -> None:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(message)


@dataclass_transform(frozen_default=True)
class Frozen:
    """A value whose fields are the annotated names of its class and of the bases of its class.

    Raises:
        TypeError: (at the definition of a subclass) a default is mutable or cannot be hashed, or a
            name is given a value and no annotation, so that it is neither a field nor a `ClassVar`.
    """

    __match_args__: ClassVar = ()
    __dataclass_params__: ClassVar[type] = _Parameters
    if TYPE_CHECKING:
        __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls: Any, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own, annotations = vars(cls), _annotations(cls)
        names = [n for n, k in annotations.items() if "ClassVar" not in str(k).partition("[")[0]]
        _check_defaults(cls, own.keys() & names)
        _check_constants(cls, own.keys() - annotations)
        fields = cls.__match_args__  # those of the first base
        for base in cls.__bases__[1:]:  # in the order of `dataclasses`
            fields = (*getattr(base, "__match_args__", ()), *fields)
        # By `setattr`, because mypy refuses an assignment to this name.
        setattr(cls, "__match_args__", tuple(dict.fromkeys((*fields, *names))))  # noqa: B010
        cls.__dataclass_fields__ = _Fields()
        if "__init__" not in own:  # the first call writes it
            cls.__init__ = _init
        if own.get("__hash__", cls) is None:  # Python: the class defines `__eq__`
            cls.__hash__ = Frozen.__hash__

    if not TYPE_CHECKING:
        __setattr__, __delattr__ = frozen_setattr, frozen_delattr

    def __repr__(self) -> str:
        fields = [f"{n}={_short(getattr(self, n))}" for n in field_names(type(self))]
        return f"{type(self).__qualname__}({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        cls = type(self)
        if other.__class__ is not cls:
            return NotImplemented
        key = _key(cls)
        return bool(key(self) == key(other))

    def __hash__(self) -> int:
        return hash(_key(type(self))(self))

    def __replace__(self, /, **changes: Any) -> Self:
        return replace(self, **changes)


def replace(instance: T, /, **changes: Any) -> T:
    """A copy with other values in some fields, as `dataclasses.replace`; of any dataclass."""
    for name in field_names(type(instance)):
        changes.setdefault(name, getattr(instance, name))
    return type(instance)(**changes)


def field_names(cls: Any) -> tuple[str, ...]:
    """The fields of any dataclass, `Frozen` or not, in order; does not import `dataclasses`."""
    return cls.__match_args__ if _is_lazy(cls) else tuple(cls.__dataclass_fields__)


def field_defaults(cls: Any) -> dict[str, Any]:
    """The fields that have a default, and its value; of some dataclasses, what makes the value."""
    if _is_lazy(cls):
        bodies = {n: vars(_definer(cls, n)) for n in field_names(cls)}
        return {n: body[n] for n, body in bodies.items() if n in body}
    from dataclasses import MISSING, fields  # the class was made with `dataclasses`

    defaults = {
        f.name: f.default if f.default_factory is MISSING else f.default_factory
        for f in fields(cls)
    }
    return {name: default for name, default in defaults.items() if default is not MISSING}


def field_annotations(cls: Any) -> dict[str, tuple[object, dict[str, Any]]]:
    """The annotation of each field, text or type, and the names that its module knows."""
    said: dict[str, tuple[object, dict[str, Any]]] = {}
    for definer in reversed(cls.__mro__):
        module = sys.modules.get(definer.__module__)
        for name, kind in _annotations(definer).items():
            said[name] = (kind, vars(module) if module is not None else {})
    return {name: said.get(name, (object, {})) for name in field_names(cls)}


def _check_defaults(cls: type, names: Iterable[str]) -> None:
    """Refuse a default that is mutable, or is not the value itself but says how to make it."""
    for name in names:
        value = vars(cls)[name]
        try:
            hash(value)
        except TypeError:
            what = f"the default {value!r:.60} is mutable or has no hash; use a tuple or None"
            raise TypeError(f"{cls.__name__}.{name}: {what}") from None
        if type(value).__module__ == "dataclasses":
            what = "no field(...) here; a default is a plain value"
            raise TypeError(f"{cls.__name__}.{name}: {what}")


def _check_constants(cls: type, names: set[str]) -> None:
    """Refuse a constant among these names without annotation, unless a base has it."""
    for name in names.difference(*map(_names_in, cls.__bases__)):
        value = vars(cls)[name]
        if name[0] != "_" and not (callable(value) or hasattr(type(value), "__get__")):
            kind = type(value).__name__
            raise TypeError(
                f"{cls.__name__}.{name} has no annotation: a field is `{name}: {kind} = ...`,"
                f" a constant of the class `{name}: ClassVar[{kind}] = ...`"
            )


@cache
def _names_in(base: type) -> frozenset[str]:
    """The names that the class and its bases define or annotate."""
    return frozenset(dir(base)).union(*map(_annotations, base.__mro__))


def _is_lazy(cls: type) -> bool:
    """Whether the fields are those of `Frozen`, and `dataclasses` has not asked for them yet."""
    return isinstance(vars(cls).get("__dataclass_fields__"), _Fields)


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    """Stands in for `__init__` until the first call, which writes it; no field: needs none."""
    cls: Any = next(c for c in type(self).__mro__ if vars(c).get("__init__") is _init)
    if cls.__match_args__ or args or kwargs or hasattr(cls, "__post_init__"):
        cls.__init__ = _written(cls)
        cls.__init__(self, *args, **kwargs)


def _written(cls: Any) -> Callable[..., None]:
    """`__init__` in Python text, compiled: called for every op that a program is built of."""
    defaults = field_defaults(cls)
    scope: dict[str, Any] = {"_set": object.__setattr__, "_defaults": defaults}
    takes = [f"{n}=_defaults[{n!r}]" if n in defaults else n for n in field_names(cls)]
    lines = [f"def __init__({', '.join(['self', *takes])}):"]
    lines += [f" _set(self, {n!r}, {n})" for n in field_names(cls)]
    lines += [*_POST_INIT] if hasattr(cls, "__post_init__") else [" pass"]
    exec("\n".join(lines), scope)  # names are identifiers: they come from a class body
    init: Any = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init  # type: ignore[no-any-return]


# A field of the wrong kind breaks a class's own checks in any way: the error says which field.
_POST_INIT = (
    " try: self.__post_init__()",
    " except Exception as error:",
    "  from byparts_graph_ir.model.field_types import wrong_field",
    "  raise wrong_field(self, error) from None",
)


def _short(value: object) -> str:
    """The `repr` of a field; of long data only how it begins."""
    if isinstance(value, bytes) and len(value) > 40:
        return f"{value[:16]!r}... ({len(value)} bytes)"
    return repr(value)


_keys: dict[type, Callable[[Any], Any]] = {}


def _key(cls: Any) -> Callable[[Any], Any]:
    """The getter of the fields by which instances are compared."""
    key = _keys.get(cls)
    if key is None:
        names = cls.__match_args__
        key = _keys[cls] = attrgetter(*names) if names else lambda _: cls
    return key


def _definer(cls: type, name: str) -> type:
    """The nearest class whose body annotates the field: only a default that stands there counts."""
    return next(c for c in cls.__mro__ if name in _annotations(c))


def _annotations(cls: Any) -> dict[str, Any]:
    """The annotations of its own body, text or types."""
    annotations: dict[str, Any] | None = vars(cls).get("__annotations__")
    if annotations is None:  # Python 3.14 keeps them elsewhere
        annotations = cls.__annotations__ if hasattr(cls, "__annotate__") else {}
    return annotations

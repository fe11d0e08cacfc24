"""Checks the arguments of a public function against its annotations, before the function runs.

A package that says `lazy_names(..., checked=True)` gives its functions out with this check: the
annotations are what a type checker reads, and whoever does not run one gets a sentence with the
name of the function and of the argument instead of an AttributeError from somewhere inside.

NumPy's numbers become Python's and its arrays of numbers lists, where numbers are meant: attributes
of ops are plain, or equal ops would not be equal.  A parameter `dtype: str` takes NumPy's dtypes.
Annotations are read as text, each when its argument is first given, without `typing`; what is not
understood (a protocol, a name that only type checkers know) accepts everything.
"""

from __future__ import annotations

import sys
from operator import index

from byparts_graph_ir.errors import GraphError, refusal
from byparts_graph_ir.model.arithmetic import Arithmetic
from byparts_graph_ir.model.sameness import Sameness
from byparts_graph_ir.model.types import dtype_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])
    Convert: TypeAlias = Callable[[Any], Any]  # the value, or as Python has it, or `_WRONG`

_WRONG = object()
_TAKES_ANY_NAME = 0x08  # `inspect.CO_VARKEYWORDS`


def checked(function: F, package: str = "") -> F:
    """The function, which refuses arguments that are not what its annotations say.

    A decorator, for functions whose package does not say `checked=True`.

    Raises:
        ArgumentError: (the result) an argument is of another kind.
    """
    callee: Any = function
    positional = callee.__code__.co_varnames[: callee.__code__.co_argcount]
    converters = _Converters(callee)

    def call(*args: Any, **kwargs: Any) -> Any:
        if args and (remembered := getattr(args[0], "remembered", None)) is not None:
            return remembered(function, check_and_call, args, kwargs)
        return check_and_call(*args, **kwargs)

    def check_and_call(*args: Any, **kwargs: Any) -> Any:
        for name, old in zip(positional, args):  # noqa: B905  # those that are given
            convert = converters[name]
            if convert is not None and (new := convert(old)) is not old:
                i = positional.index(name)
                args = (*args[:i], _taken(new, callee, name, old), *args[i + 1 :])
        for name, old in kwargs.items():
            convert = converters[name]
            if convert is _unknown:
                from byparts_graph_ir.spellings import spelled  # only for a mistake or an alias

                return call(*args, **spelled(callee.__name__, converters.names, kwargs))
            if convert is not None and (new := convert(old)) is not old:
                kwargs[name] = _taken(new, callee, name, old)
        return function(*args, **kwargs)

    # What `functools.wraps` does, in 17 lines for each function; the module is where it is found.
    call.__module__, call.__doc__ = package or callee.__module__, callee.__doc__
    call.__name__, call.__qualname__ = callee.__name__, callee.__qualname__
    call.__annotations__ = callee.__annotations__
    call.__dict__.update(callee.__dict__, __wrapped__=callee)
    return call  # type: ignore[return-value]  # it takes what the function takes


class _Converters(dict[str, "Convert | None"]):
    """By argument, of those that were given so far: most are left out in most programs."""

    __slots__ = ("function", "names")

    def __init__(self, function: Any) -> None:
        code = function.__code__
        self.function = function
        self.names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]

    def __missing__(self, name: str) -> Convert | None:
        function = self.function
        if name not in self.names and not function.__code__.co_flags & _TAKES_ANY_NAME:
            return _unknown
        annotation = function.__annotations__.get(name) if name in self.names else None
        scope = function.__globals__
        self[name] = converter = annotation and _converter(name, str(annotation), scope)
        return converter


def _unknown(value: Any) -> Any:
    """The converter of a name that the function does not have."""
    return value


def _taken(new: Any, function: Any, name: str, old: object) -> Any:
    """Return the converted argument, or raise if it could not be converted."""
    if new is _WRONG:
        if isinstance(old, Sameness):
            old.refuse()
        name_of_function = function.__qualname__.removesuffix(".__init__")
        raise refusal(name_of_function, name, old, function.__annotations__[name])
    return new


def _converter(name: str, text: str, scope: dict[str, Any]) -> Convert | None:
    """`None` where everything is accepted."""
    if name == "dtype" and text == "str":
        return _dtype
    return _of(text, scope, 0)


def _of(text: str, scope: dict[str, Any], depth: int) -> Convert | None:
    text = text.strip("'\" ")
    if text in _PLAIN:
        return _PLAIN[text]
    members = _split(text, "|")
    head, arguments = _head(members[0])
    if len(members) == 1 and head in ("Union", "Optional"):
        members = arguments + ["None"] * (head == "Optional")
    if len(members) > 1:
        return _any_of([_of(m, scope, depth) for m in members])
    if head in _PLAIN:
        return _PLAIN[head]
    if head in ("Sequence", "Iterable", "Collection", "list") or (
        head == "tuple" and arguments[-1:] == ["..."]
    ):
        return _row(_of(arguments[0], scope, depth) if arguments else None)
    if head == "Callable":
        return _if(callable)
    if head in ("set", "frozenset"):
        return _if(lambda value: isinstance(value, (set, frozenset)))
    if head == "Mapping":
        return _mapping(_of(arguments[-1], scope, depth) if arguments else None)
    return _named(scope[head] if head in scope else _public(head), scope, depth)


def _public(name: str) -> Any:
    """A name of this package, for modules that import it for type checkers only; else `None`."""
    package = sys.modules["byparts_graph_ir"]
    return getattr(package, name) if name in package.__all__ else None


def _named(meant: Any, scope: dict[str, Any], depth: int) -> Convert | None:
    """The check for a name in the module of the function: of a class, or another annotation."""
    is_alias = isinstance(meant, str) or hasattr(meant, "__origin__") or hasattr(meant, "__args__")
    if is_alias and depth < 4:
        return _of(str(meant), scope, depth + 1)
    if isinstance(meant, type) and not getattr(meant, "_is_protocol", False):
        return _if(lambda value: isinstance(value, meant))
    return None


def _head(text: str) -> tuple[str, list[str]]:
    """`typing.Optional[int]` -> `Optional`, `[int]`."""
    name, _, rest = text.partition("[")
    arguments = _split(rest.rpartition("]")[0], ",") if rest else []
    return name.strip().rpartition(".")[2], arguments


def _split(text: str, sign: str) -> list[str]:
    """At the signs that are in no bracket."""
    if sign not in text:
        return [text.strip()]
    parts: list[str] = []
    is_open = False
    for piece in text.split(sign):
        if is_open:
            parts[-1] += sign + piece
        else:
            parts.append(piece)
        last = parts[-1]
        is_open = last.count("[") + last.count("(") > last.count("]") + last.count(")")
    return [part.strip() for part in parts]


def _any_of(members: list[Convert | None]) -> Convert | None:
    known = [m for m in members if m is not None]
    if len(known) < len(members):
        return None

    def convert(value: Any) -> Any:
        result = _WRONG
        for member in known:
            new = member(value)
            if new is value:
                return value
            result = new if result is _WRONG else result
        return result

    return convert


def _row(item: Convert | None) -> Convert:
    def convert(value: Any) -> Any:
        if isinstance(value, (str, bytes, Arithmetic, dict)) or not hasattr(value, "__iter__"):
            return _WRONG
        if hasattr(value, "tolist"):
            value = value.tolist()
            if not isinstance(value, list):
                return _WRONG  # of no dimensions
        elif not isinstance(value, (tuple, list)):
            if item is None:
                return value
            value = tuple(value)
        if item is None:
            return value
        new = [item(v) for v in value]
        if any(v is _WRONG for v in new):
            return _WRONG
        return value if all(a is b for a, b in zip(new, value, strict=True)) else tuple(new)

    return convert


def _mapping(item: Convert | None) -> Convert:
    def convert(value: Any) -> Any:
        if not (hasattr(value, "keys") and hasattr(value, "values")):
            return _WRONG
        wrong = item is not None and any(item(v) is _WRONG for v in value.values())
        return _WRONG if wrong else value

    return convert


def _if(accepts: Callable[[Any], bool]) -> Convert:
    return lambda value: value if accepts(value) else _WRONG


def _value(value: Any) -> Any:
    return value if isinstance(value, Arithmetic) else _WRONG


def _operand(value: Any) -> Any:
    """Pass an operand on unchecked: lifting it refuses what is no number, with a better error."""
    return value


def _int(value: Any) -> Any:
    if value.__class__ is int:
        return value
    if not _is_number(value, "__index__"):
        return _WRONG
    try:
        return index(value)
    except TypeError:  # NumPy's bools and floats have the method, and refuse
        return _WRONG


def _float(value: Any) -> Any:
    if value.__class__ is float or value.__class__ is int:
        return value
    if not _is_number(value, "__float__"):
        return _WRONG
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return _WRONG


def _is_number(value: Any, method: str) -> bool:
    """Whether a value may be a number: no bool, no array of several, and with this method."""
    shape = getattr(value, "shape", None)
    return not isinstance(value, bool) and hasattr(value, method) and shape in (None, ())


def _bool(value: Any) -> Any:
    if value.__class__ is bool:
        return value
    is_numpy = type(value).__name__ in ("bool", "bool_") and getattr(value, "shape", None) == ()
    return bool(value) if is_numpy else _WRONG


def _str(value: Any) -> Any:
    if value.__class__ is str:
        return value
    return str(value) if isinstance(value, str) else _WRONG  # attributes of ops are plain


def _dtype(value: Any) -> Any:
    try:
        return dtype_name(value)
    except GraphError:
        if isinstance(value, str):
            return value  # refused by the type that it makes, with what is near
        raise


_PLAIN: dict[str, Convert | None] = {
    **{"int": _int, "float": _float, "bool": _bool, "Value": _value, "Operand": _operand},
    **{"str": _str, "None": _if(lambda value: value is None)},
    **{"bytes": _if(lambda value: isinstance(value, bytes)), "Any": None, "object": None},
    "NoneType": _if(lambda value: value is None),
}

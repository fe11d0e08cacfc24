"""Whether an attribute is of the type that the op's field is annotated with.

An op that is built in Python is checked by a type checker, if anyone runs one.  One that is read
from a file must be checked when it is read, or `keepdims: "nan"` is run.  Annotations are resolved
in the module that says them, once for each class, and not before a file is read or written.  A bool
is no int; an int will do for a float.  An annotation that cannot be resolved, or that names
something no file can hold, accepts everything.
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError, refusal
from byparts_graph_ir.model.body import Body
from byparts_graph_ir.model.frozen import field_annotations, field_names
from byparts_graph_ir.model.types import TensorType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    Check: TypeAlias = tuple[str, Callable[[Any], bool]]  # the type as text, what is of that type

_PLAIN = (int, str, bytes, bool, float, tuple, TensorType)
_checks: dict[type, dict[str, Check]] = {}


def misfit(kind: type, attributes: Mapping[str, object]) -> tuple[str, str] | None:
    """The first attribute that is not of the type of its field, and that type.

    `kind` may be any dataclass.
    """
    checks = _checks.get(kind)
    if checks is None:
        annotations = field_annotations(kind).items()
        checks = _checks[kind] = {n: _check(said, scope) for n, (said, scope) in annotations}
    for name, value in attributes.items():
        expected, accepts = checks[name]
        if not accepts(value):
            return name, expected
    return None


def wrong_field(op: object, error: Exception) -> Exception:
    """The error to raise where `error` was raised within the checks or the shape rule of an op.

    An `ArgumentError` if one of its fields is not of the type that the op says; else `error`.
    """
    values = {n: getattr(op, n) for n in field_names(type(op)) if hasattr(op, n)}
    wrong = misfit(type(op), values)
    if isinstance(error, GraphError) or wrong is None:
        return error
    name, wanted = wrong
    return refusal(type(op).__name__, name, values[name], wanted)


def _check(annotation: object, scope: dict[str, Any]) -> Check:
    from types import UnionType  # neither is needed by a program that is built in code
    from typing import Literal, Union, get_args, get_origin

    known = _resolved(annotation, scope)
    if known is None or known is type(None):
        return "None", lambda value: value is None
    if known in _PLAIN or (isinstance(known, type) and issubclass(known, Body)):
        return known.__name__, lambda value: _is_a(value, known)
    origin, arguments = get_origin(known), get_args(known)
    if origin is Literal:
        return " | ".join(map(repr, arguments)), lambda value: _is_one_of(value, arguments)
    endless = origin is tuple and arguments[-1:] == (...,)
    members = [_check(a, scope) for a in (arguments[:1] if endless else arguments)]
    texts, accepts = [text for text, _ in members], [check for _, check in members]
    if origin in (Union, UnionType):
        return " | ".join(texts), lambda value: any([check(value) for check in accepts])
    if origin is tuple:
        text = ", ".join([*texts, "..."] if endless else texts)
        return f"tuple[{text}]", lambda value: _is_row(value, accepts, endless)
    return "anything", lambda value: True


def _resolved(annotation: object, scope: dict[str, Any]) -> Any:
    """The type that is meant: not its name, nor another name for it."""
    from typing import Annotated, Final, ForwardRef, get_args, get_origin  # as above

    while True:
        if isinstance(annotation, ForwardRef):
            annotation = annotation.__forward_arg__
        elif isinstance(annotation, str):
            try:  # the text stands in the class of an op, which has been imported
                annotation = eval(annotation, scope)
            except Exception:  # a name that only type checkers know, or no type at all
                return object
        elif get_origin(annotation) in (Annotated, Final):
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__") or hasattr(annotation, "__value__"):
            alias: Any = annotation  # NewType; `type X = ...`
            annotation = alias.__supertype__ if hasattr(alias, "__supertype__") else alias.__value__
        else:
            return annotation


def _is_a(value: object, kind: Any) -> bool:
    if kind is float and type(value) is int:
        return value.bit_length() < 1024
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _is_one_of(value: object, allowed: tuple[object, ...]) -> bool:
    return any([type(value) is type(one) and value == one for one in allowed])


def _is_row(value: object, accepts: list[Callable[[Any], bool]], endless: bool) -> bool:
    """Whether a value is a tuple with an item for each check, or any number for the only one."""
    if not isinstance(value, tuple):
        return False
    checks = accepts * len(value) if endless else accepts
    return len(value) == len(checks) and all([c(v) for c, v in zip(checks, value, strict=True)])

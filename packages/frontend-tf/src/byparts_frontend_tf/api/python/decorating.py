"""Tools of TensorFlow's inside for functions: what is deprecated, decorators, their arguments."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, NamedTuple, Optional, TypeVar

from byparts_frontend_tf.api.logging import warning
from byparts_frontend_tf.symbols import symbol

F = TypeVar("F", bound=Callable[..., Any])
_silent = [False]


def _named(function: Any) -> str:
    return f"{getattr(function, '__qualname__', function)} (from {function.__module__})"


def _warn(function: Any, what: str, date: Optional[str], instructions: str) -> None:
    if not _silent[0]:
        when = "in a future version" if date is None else f"after {date}"
        warning(
            f"{_named(function)}: {what} is deprecated and will be removed {when}.\n"
            f"Instructions for updating:\n{instructions}"
        )


def _warning_when(
    is_old: Callable[[dict[str, Any]], Optional[str]],
    date: Optional[str],
    instructions: str,
    warn_once: bool,
) -> Callable[[F], F]:
    """A decorator: calls whose arguments `is_old` names something for say so, once by default."""

    def decorate(function: Any) -> Any:
        if inspect.isclass(function):
            return function
        said: set[str] = set()
        signature = inspect.signature(function)

        @wraps(function)
        def call(*arguments: Any, **given: Any) -> Any:
            try:
                named = signature.bind_partial(*arguments, **given).arguments
            except TypeError:  # the function itself will say so
                named = {}
            old = is_old(dict(named))
            if old is not None and not (warn_once and old in said):
                said.add(old)
                _warn(function, old, date, instructions)
            return function(*arguments, **given)

        return call

    return decorate


@symbol("contrib.framework.deprecated", "python.util.deprecation.deprecated")
def deprecated(date: Optional[str], instructions: str, warn_once: bool = True) -> Callable[[F], F]:
    """A decorator: the function says that it will be removed, when it is called first."""
    return _warning_when(lambda named: "this function", date, instructions, warn_once)


@symbol("contrib.framework.deprecated_args", "python.util.deprecation.deprecated_args")
def deprecated_args(
    date: Optional[str], instructions: str, *names: Any, **how: Any
) -> Callable[[F], F]:
    """A decorator: the function says that arguments, or (name, old default), will be removed."""
    old = [name if isinstance(name, str) else name[0] for name in names]

    def is_old(named: dict[str, Any]) -> Optional[str]:
        found = [name for name in old if named.get(name) is not None]
        return f"argument {', '.join(found)}" if found else None

    return _warning_when(is_old, date, instructions, how.get("warn_once", True))


@symbol("contrib.framework.deprecated_arg_values", "python.util.deprecation.deprecated_arg_values")
def deprecated_arg_values(
    date: Optional[str], instructions: str, warn_once: bool = True, **values: Any
) -> Callable[[F], F]:
    """A decorator: the function says that these values of arguments will be removed."""

    def is_old(named: dict[str, Any]) -> Optional[str]:
        found = [n for n, v in values.items() if n in named and named[n] is v]
        return f"{found[0]}={values[found[0]]!r}" if found else None

    return _warning_when(is_old, date, instructions, warn_once)


@symbol("python.util.deprecation.deprecated_argument_lookup")
def deprecated_argument_lookup(new_name: str, new_value: Any, old_name: str, old_value: Any) -> Any:
    """The value of an argument that has two names.

    Raises:
        ValueError: both are given.
    """
    if old_value is None:
        return new_value
    if new_value is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
    return old_value


@symbol("python.util.deprecation.silence")
@contextmanager
def silence() -> Iterator[None]:
    """Nothing says inside that it will be removed."""
    before, _silent[0] = _silent[0], True
    try:
        yield
    finally:
        _silent[0] = before


tf_contextmanager = contextmanager


@symbol("python.util.tf_decorator.make_decorator")
def make_decorator(target: Any, decorator_func: Any, *described: Any, **also: Any) -> Any:
    """The function `decorator_func`, with the name and the signature of `target`."""
    return wraps(target)(decorator_func)


@symbol("python.util.tf_decorator.unwrap")
def unwrap(maybe_tf_decorator: Any) -> tuple[list[Any], Any]:
    """The decorators of a function, and the function without them."""
    decorators = []
    while hasattr(maybe_tf_decorator, "__wrapped__"):
        decorators.append(maybe_tf_decorator)
        maybe_tf_decorator = maybe_tf_decorator.__wrapped__
    return decorators, maybe_tf_decorator


class ArgSpec(NamedTuple):
    """The arguments of a function, as Python 2 had them."""

    args: list[str]
    varargs: Optional[str]
    keywords: Optional[str]
    defaults: Optional[tuple[Any, ...]]


@symbol("python.util.tf_inspect.getargspec")
def getargspec(obj: Any) -> ArgSpec:
    """The arguments of a function; those after the star do not count."""
    return ArgSpec(*inspect.getfullargspec(unwrap(obj)[1])[:4])


@symbol("python.util.tf_inspect.getfullargspec")
def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """All arguments of a function; no annotations, which TensorFlow's functions have not."""
    return inspect.getfullargspec(unwrap(obj)[1])._replace(annotations={})


@symbol("python.util.all_util.make_all")
def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
    """The public names of a module."""
    return [name for name in dir(sys.modules[module_name]) if not name.startswith("_")]


@symbol("python.util.all_util.remove_undocumented")
def remove_undocumented(
    module_name: str, allowed_exception_list: Any = None, doc_string_modules: Any = None
) -> None:
    """Nothing: a module keeps its names."""


_INSPECT = (
    *("currentframe", "getcallargs", "getdoc", "getfile", "getmembers", "getmodule", "getmro"),
    *("getsource", "getsourcefile", "getsourcelines", "isbuiltin", "isclass", "isframe"),
    *("isfunction", "isgenerator", "ismethod", "ismodule", "isroutine", "signature", "stack"),
    *("getframeinfo", "isgeneratorfunction", "FullArgSpec"),
)


def __getattr__(name: str) -> Any:
    if name not in _INSPECT:
        raise AttributeError(name)
    return getattr(inspect, name)


SYMBOLS = {
    "python.util.tf_contextlib.contextmanager": "tf_contextmanager",
    **{f"python.util.tf_inspect.{name}": name for name in (*_INSPECT, "ArgSpec")},
    "python.util.tf_inspect._inspect": "inspect",
}

"""`arg_scope` of contrib: default arguments of functions within a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any

from byparts_frontend_tf.symbols import symbol

_scopes: list[dict[str, dict[str, Any]]] = [{}]  # function -> argument -> value, of each open block


def _key(function: Any) -> str:
    key: str = getattr(function, "_arg_scope_key", "")
    return key or f"{function.__module__}.{function.__name__}"


@symbol("contrib.framework.add_arg_scope", "contrib.slim.add_arg_scope")
def add_arg_scope(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose arguments `arg_scope` may give."""
    key = f"{func.__module__}.{func.__name__}"

    @wraps(func)
    def scoped(*arguments: Any, **named: Any) -> Any:
        return func(*arguments, **{**_scopes[-1].get(key, {}), **named})

    scoped._arg_scope_key = key  # type: ignore[attr-defined]  # marks it
    return scoped


@symbol("contrib.framework.has_arg_scope", "contrib.slim.has_arg_scope")
def has_arg_scope(func: Any) -> bool:
    """Whether `arg_scope` may give arguments of the function."""
    return hasattr(func, "_arg_scope_key")


@symbol("contrib.framework.arg_scope", "contrib.slim.arg_scope")
@contextmanager
def arg_scope(list_ops_or_scope: Any, **named: Any) -> Iterator[Any]:
    """Within the block these functions get these arguments, where a call does not give them.

    Args:
        list_ops_or_scope: functions that were marked with `add_arg_scope`; or what an earlier
            block gave, to enter it again.
        named: arguments by name.

    Raises:
        TypeError: not a list of functions, or no scope.
        ValueError: a function is not marked; or arguments for an earlier scope.
    """
    if isinstance(list_ops_or_scope, Mapping):
        if named:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, kwargs must be empty."
            )
        scope = {k: dict(v) for k, v in list_ops_or_scope.items()}
    else:
        if not isinstance(list_ops_or_scope, (list, tuple, set)):
            raise TypeError(
                "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)"
            )
        scope = {k: dict(v) for k, v in _scopes[-1].items()}
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                name = getattr(function, "__name__", function)
                raise ValueError(f"{name} is not decorated with @add_arg_scope")
            scope.setdefault(_key(function), {}).update(named)
    _scopes.append(scope)
    try:
        yield scope
    finally:
        _scopes.pop()


@symbol("contrib.framework.current_arg_scope", "contrib.slim.current_arg_scope")
def current_arg_scope() -> dict[str, dict[str, Any]]:
    """The arguments that are given now."""
    return _scopes[-1]

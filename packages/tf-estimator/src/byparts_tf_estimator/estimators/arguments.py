"""Arguments of a program's functions: a model function takes only those it needs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from byparts_frontend_tf.symbols import symbol


@symbol("python.estimator.util.fn_args", "python.util.function_utils.fn_args")
def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the arguments that can be given by name, without those that are bound."""
    if isinstance(function, partial):
        inner = argument_names(function.func)[len(function.args) :]
        return tuple([name for name in inner if name not in (function.keywords or {})])
    parameters = inspect.signature(function).parameters.values()
    return tuple(
        [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    )


def accepted(function: Callable[..., Any], **given: Any) -> dict[str, Any]:
    """Leave out the named arguments that the function does not take."""
    names = argument_names(function)
    return {name: value for name, value in given.items() if name in names}

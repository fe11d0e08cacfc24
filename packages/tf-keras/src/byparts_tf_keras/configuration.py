"""Layers remember the arguments they were made with: what `get_config` gives for those here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from byparts_tf_keras import activations
from byparts_tf_keras.objects import serialize

_OWN = __name__.rpartition(".")[0]
_BASE = {"name", "trainable", "dtype", "kwargs", "dynamic"}


def is_own(kind: type) -> bool:
    """Whether the class is one of this folder."""
    return kind.__module__.startswith(_OWN)


def remember_arguments(kind: type) -> None:
    """Let the constructor of a class of this folder keep its arguments."""
    init = kind.__dict__.get("__init__")
    if init is not None and is_own(kind):
        kind.__init__ = _remembering(init)  # type: ignore[misc]  # the same, and it remembers


def _remembering(init: Callable[..., None]) -> Callable[..., None]:
    signature = inspect.signature(init)
    named = [
        p.name
        for p in signature.parameters.values()
        if p.kind not in (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    ]

    @wraps(init)
    def remember(self: Any, *arguments: Any, **kwargs: Any) -> None:
        if "_arguments" not in self.__dict__:
            bound = signature.bind(self, *arguments, **kwargs)
            bound.apply_defaults()
            wanted = {n: bound.arguments[n] for n in named[1:] if n not in _BASE}
            self.__dict__["_arguments"] = wanted
        init(self, *arguments, **kwargs)

    remember.__signature__ = _with_base(signature)  # type: ignore[attr-defined]  # `inspect` reads it
    return remember


def _with_base(signature: inspect.Signature) -> inspect.Signature:
    """The signature with the names of all layers' arguments in place of `**kwargs` alone."""
    *first, last = signature.parameters.values()
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    if last.kind is not inspect.Parameter.VAR_KEYWORD or any(p.kind > kind for p in first):
        return signature
    more = [n for n in ("trainable", "name", "dtype") if n not in signature.parameters]
    return signature.replace(
        parameters=[*first, *[inspect.Parameter(n, kind, default=None) for n in more], last]
    )


def arguments_of(layer: Any) -> dict[str, Any]:
    """The arguments that make an equal layer, as data."""
    return {
        name: _as_data(name, getattr(layer, name, value))
        for name, value in layer.__dict__.get("_arguments", {}).items()
    }


def _as_data(name: str, value: Any) -> Any:
    if name.endswith("activation"):
        return None if value is None else activations.serialize(value)
    if name.endswith(("initializer", "regularizer", "constraint")):
        return serialize(value)
    return value

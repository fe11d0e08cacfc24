"""Objects of Keras as data, and back: by the name of their class, and their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol

_custom: dict[str, Any] = {}


@symbol("keras.utils.get_custom_objects")
def get_custom_objects() -> dict[str, Any]:
    """Name -> class or function of the program that configurations may name."""
    return _custom


@symbol("keras.utils.CustomObjectScope", "keras.utils.custom_object_scope")
@contextmanager
def custom_object_scope(*objects: Mapping[str, Any]) -> Iterator[None]:
    """Configurations may name these classes and functions inside the block."""
    before = dict(_custom)
    for named in objects:
        _custom.update(named)
    try:
        yield
    finally:
        _custom.clear()
        _custom.update(before)


@symbol("keras.utils.serialize_keras_object")
def serialize(thing: Any) -> Any:
    """A name for a function; the class and the configuration of an object."""
    if thing is None or isinstance(thing, (str, dict)):
        return thing
    if hasattr(thing, "get_config") and not inspect.isclass(thing):
        name = getattr(type(thing), "_keras_name", type(thing).__name__)
        return {"class_name": name, "config": thing.get_config()}
    if hasattr(thing, "__name__"):
        return thing.__name__
    raise ValueError(f"Cannot serialize {thing!r}")


@symbol("keras.utils.deserialize_keras_object")
def deserialize(
    identifier: Any,
    module_objects: Optional[Mapping[str, Any]] = None,
    custom_objects: Optional[Mapping[str, Any]] = None,
    printable_module_name: str = "object",
) -> Any:
    """Make or find the object that a name or a configuration means.

    Raises:
        ValueError: nothing has this name.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        if "class_name" not in identifier or "config" not in identifier:
            raise ValueError(f"Improper config format: {identifier}")
        kind = _named(identifier["class_name"], module_objects, custom_objects)
        if kind is None:
            raise ValueError(f"Unknown {printable_module_name}: {identifier['class_name']}")
        return _made(kind, identifier["config"], custom_objects)
    if isinstance(identifier, str):
        thing = _named(identifier, module_objects, custom_objects)
        if thing is None:
            raise ValueError(f"Unknown {printable_module_name}:{identifier}")
        return thing() if inspect.isclass(thing) else thing
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


def _named(name: str, *places: Optional[Mapping[str, Any]]) -> Any:
    own, custom = places
    for place in (custom, _custom, own):
        if place and name in place:
            return place[name]
    return None


def _made(kind: Any, config: Any, custom: Optional[Mapping[str, Any]]) -> Any:
    if not hasattr(kind, "from_config"):
        return kind(**config)
    if "custom_objects" in inspect.signature(kind.from_config).parameters:
        return kind.from_config(config, custom_objects={**_custom, **(custom or {})})
    with custom_object_scope(custom or {}):
        return kind.from_config(config)


def finder(named: Callable[[], Mapping[str, Any]], what: str) -> Callable[..., Any]:
    """The functions `get` of a module: None, a name, a configuration or a thing -> a thing."""

    def get(identifier: Any, custom_objects: Any = None) -> Any:
        if identifier is None:
            return None
        if isinstance(identifier, (str, dict)):
            return deserialize(identifier, named(), custom_objects, what)
        if callable(identifier):
            return identifier() if inspect.isclass(identifier) else identifier
        raise ValueError(f"Could not interpret {what} identifier: {identifier}")

    get.__doc__ = f"The {what} that is meant: a name, a configuration, or itself."
    return get


def plain(value: Any) -> Any:
    """A value that JSON can say: numbers of NumPy, arrays and shapes become Python's."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if hasattr(value, "as_list"):
        return value.as_list()
    if hasattr(value, "as_numpy_dtype"):
        return value.name
    if isinstance(value, type) or inspect.isfunction(value):
        return value.__name__
    raise TypeError(f"{value!r} cannot be saved as JSON")

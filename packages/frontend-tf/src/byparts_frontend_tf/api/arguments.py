"""Arguments that several functions take: axes, integers that may be tensors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_value


def number(given: TensorLike, what: str) -> int:
    """A number that is known when the graph is built.

    Raises:
        ValueError: a tensor whose value is known only when it runs.
        TypeError: it is no whole number.
    """
    if isinstance(given, (int, np.integer)):
        return int(given)
    if isinstance(given, Tensor) or hasattr(given, "_as_tensor"):
        known = static_value(convert_to_tensor(given))
        if known is None:
            raise ValueError(f"{what} has to be known when the graph is built, and is {given}")
        return int(known)
    found = np.asarray(getattr(given, "value", given)).item()
    if found != int(found):
        raise TypeError(f"{what}: {given!r} is no whole number")
    return int(found)


def numbers(given: TensorLike, what: str) -> tuple[int, ...]:
    """Numbers known when the graph is built; one number is a tuple of one.  As `number`."""
    if isinstance(given, (float, np.floating)):
        raise TypeError(
            f"{what}: {given!r} is a float, not in list of allowed values: int32, int64"
        )
    if isinstance(given, (int, np.integer)):
        return (int(given),)
    tensor = isinstance(given, Tensor) or hasattr(given, "_as_tensor")
    if not tensor and isinstance(given, (list, tuple)):
        return tuple([number(v, what) for v in given])
    known = static_value(convert_to_tensor(given)) if tensor else np.asarray(given)
    if known is None:
        raise ValueError(f"{what} has to be known when the graph is built, and is {given}")
    return tuple([int(v) for v in known.reshape(-1)])


def renamed(new: Any, old: Any, new_name: str, old_name: str) -> Any:
    """The argument given by its new name or by its old one.

    Raises:
        ValueError: by both.
    """
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both {old_name!r} and {new_name!r}")
    return old


def required(given: Any, name: str, function: str) -> Any:
    """The argument.

    Raises:
        TypeError: it is not given.
    """
    if given is None:
        raise TypeError(f"{function}() missing required argument: {name!r}")
    return given


def sizes(given: Any, count: int, what: str) -> tuple[int, ...]:
    """A number for each spatial dimension.

    Raises:
        ValueError: not a number, nor so many.
    """
    if isinstance(given, int):
        return (given,) * count
    made = tuple(int(g) for g in given) if isinstance(given, Iterable) else ()
    if len(made) != count:
        raise ValueError(f"The `{what}` argument must be a tuple of {count} integers. Got: {given}")
    return made

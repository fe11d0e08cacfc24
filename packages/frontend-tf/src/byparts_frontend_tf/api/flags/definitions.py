"""The functions that define flags: `tf.flags.DEFINE_string` and its kin."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from byparts_frontend_tf.api.flags import kinds
from byparts_frontend_tf.api.flags.flags import FLAGS
from byparts_frontend_tf.api.flags.kinds import Flag, flag_symbol


def _define(
    parse: Callable[[Any], Any],
    name: str,
    default: Any,
    help: str | None,
    flag_values: Any,
    **how: Any,
) -> None:
    (FLAGS if flag_values is None else flag_values)[name] = Flag(name, default, help, parse, **how)


@flag_symbol("DEFINE_string")
def define_string(
    name: str, default: Any, help: str | None = None, flag_values: Any = None, **_: Any
) -> None:
    """A flag that is a text."""
    _define(kinds.parse_string, name, default, help, flag_values)


@flag_symbol("DEFINE_integer")
def define_integer(
    name: str,
    default: Any,
    help: str | None = None,
    lower_bound: int | None = None,
    upper_bound: int | None = None,
    flag_values: Any = None,
    **_: Any,
) -> None:
    """A flag that is an integer, perhaps within bounds."""
    parse = kinds.bounded(kinds.parse_integer, lower_bound, upper_bound)
    _define(parse, name, default, help, flag_values)


@flag_symbol("DEFINE_float")
def define_float(
    name: str,
    default: Any,
    help: str | None = None,
    lower_bound: float | None = None,
    upper_bound: float | None = None,
    flag_values: Any = None,
    **_: Any,
) -> None:
    """A flag that is a number, perhaps within bounds."""
    parse = kinds.bounded(kinds.parse_float, lower_bound, upper_bound)
    _define(parse, name, default, help, flag_values)


@flag_symbol("DEFINE_boolean", "DEFINE_bool")
def define_boolean(
    name: str, default: Any, help: str | None = None, flag_values: Any = None, **_: Any
) -> None:
    """A flag that is on or off: `--name`, `--noname`, `--name=false`."""
    _define(kinds.parse_boolean, name, default, help, flag_values, boolean=True)


@flag_symbol("DEFINE_enum")
def define_enum(
    name: str,
    default: Any,
    enum_values: Sequence[str],
    help: str | None = None,
    flag_values: Any = None,
    **_: Any,
) -> None:
    """A flag that is one of some texts."""
    _define(kinds.enum_parser(enum_values), name, default, help, flag_values)


@flag_symbol("DEFINE_list")
def define_list(
    name: str, default: Any, help: str | None = None, flag_values: Any = None, **_: Any
) -> None:
    """A flag that is a list of texts, with commas between them."""
    _define(kinds.parse_list, name, default, help, flag_values)


@flag_symbol("DEFINE_spaceseplist")
def define_spaceseplist(
    name: str, default: Any, help: str | None = None, flag_values: Any = None, **_: Any
) -> None:
    """A flag that is a list of texts, with spaces between them."""
    _define(kinds.parse_words, name, default, help, flag_values)


@flag_symbol("DEFINE_multi_string", "DEFINE_multistring")
def define_multi_string(
    name: str, default: Any, help: str | None = None, flag_values: Any = None, **_: Any
) -> None:
    """A flag that may stand several times, each time with a text."""
    _define(kinds.parse_string, name, default, help, flag_values, several=True)


@flag_symbol("DEFINE_multi_integer")
def define_multi_integer(
    name: str, default: Any, help: str | None = None, flag_values: Any = None, **_: Any
) -> None:
    """A flag that may stand several times, each time with an integer."""
    _define(kinds.parse_integer, name, default, help, flag_values, several=True)


@flag_symbol("DEFINE_multi_float")
def define_multi_float(
    name: str, default: Any, help: str | None = None, flag_values: Any = None, **_: Any
) -> None:
    """A flag that may stand several times, each time with a number."""
    _define(kinds.parse_float, name, default, help, flag_values, several=True)


@flag_symbol("register_validator")
def register_validator(
    flag_name: str,
    checker: Callable[[Any], bool],
    message: str = "Flag validation failed",
    flag_values: Any = None,
) -> None:
    """Have the value of a flag pass a check whenever it is set.

    Raises:
        IllegalFlagValueError: it is set already, and does not.
    """
    values = FLAGS if flag_values is None else flag_values
    flag = values[flag_name]
    flag.checks.append((checker, message))
    if values.is_parsed():
        flag.check()


@flag_symbol("mark_flag_as_required")
def mark_flag_as_required(flag_name: str, flag_values: Any = None) -> None:
    """Refuse command lines without a flag whose default is `None`."""
    message = f"Flag --{flag_name} must have a value other than None."
    register_validator(flag_name, lambda value: value is not None, message, flag_values)


@flag_symbol("mark_flags_as_required")
def mark_flags_as_required(flag_names: Iterable[str], flag_values: Any = None) -> None:
    """Refuse command lines without one of these flags."""
    for name in flag_names:
        mark_flag_as_required(name, flag_values)

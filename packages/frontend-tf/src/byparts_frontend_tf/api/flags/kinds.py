"""Flags of the command line: their kinds, defaults and checks, and what can be wrong with one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from byparts_frontend_tf.symbols import symbol

F = TypeVar("F")


def flag_symbol(*names: str) -> Callable[[F], F]:
    """The function or class below is these names of `tf.flags`, and of `tf.app.flags`."""
    places = ("flags", "app.flags", "python.platform.flags")
    return symbol(*[f"{place}.{name}" for name in names for place in places])


@flag_symbol("Error")
class Error(Exception):
    """Something is wrong with flags."""


@flag_symbol("DuplicateFlagError")
class DuplicateFlagError(Error):
    """A flag is defined twice."""


@flag_symbol("IllegalFlagValueError")
class IllegalFlagValueError(Error):
    """The command line gives a flag a value that it does not take."""


@flag_symbol("UnrecognizedFlagError")
class UnrecognizedFlagError(Error):
    """The command line has a flag that is not defined."""


@flag_symbol("UnparsedFlagAccessError")
class UnparsedFlagAccessError(Error):
    """A flag is used before the command line is read."""


@flag_symbol("ValidationError")
class ValidationError(Error):
    """The value of a flag does not pass a check."""


class Flag:
    """A flag of the command line.

    Args:
        name: of it, without dashes.
        default: its value if the command line does not have it, or the text of one.
        help: what it is for.
        parse: text -> value; ValueError if it is none.
        boolean: whether it may stand without a value.
        several: whether each time it stands adds a value to a list.
    """

    def __init__(
        self,
        name: str,
        default: Any,
        help: str | None,
        parse: Callable[[str], Any],
        boolean: bool = False,
        several: bool = False,
    ) -> None:
        self.name, self.help, self.parse = name, help or "", parse
        self.boolean, self.several = boolean, several
        self.checks: list[tuple[Callable[[Any], bool], str]] = []
        self.present = 0
        self.default = self._of(default)
        self.value = self.default

    def take(self, text: str) -> None:
        """Take a value from the command line.

        Raises:
            IllegalFlagValueError: it is none.
        """
        value = self._parsed(text)
        if self.several:
            self.value = [*(self.value if self.present else []), value]
        else:
            self.value = value
        self.present += 1

    def reset(self) -> None:
        """Be as if the command line did not have it."""
        self.value, self.present = self.default, 0

    def check(self) -> None:
        """Raise IllegalFlagValueError unless the value passes all checks."""
        for passes, message in self.checks:
            try:
                good = passes(self.value)
            except ValidationError as error:
                good, message = False, str(error)
            if not good:
                raise IllegalFlagValueError(f"flag --{self.name}={self.value}: {message}")

    def serialize(self) -> str:
        """The flag as it would stand on a command line; empty where it has no value."""
        if self.value is None:
            return ""
        if self.boolean:
            return f"--{'' if self.value else 'no'}{self.name}"
        values = self.value if self.several else [self.value]
        texts = [",".join(map(str, v)) if isinstance(v, list) else str(v) for v in values]
        return "\n".join([f"--{self.name}={text}" for text in texts])

    def _of(self, given: Any) -> Any:
        """A default, which may be a text on the command line, or a list of them."""
        if given is None:
            return None
        if self.several:
            texts = given if isinstance(given, (list, tuple)) else [given]
            return [self._parsed(t) if isinstance(t, str) else t for t in texts]
        return self._parsed(given)

    def _parsed(self, given: Any) -> Any:
        try:
            return self.parse(given)
        except (TypeError, ValueError) as error:
            raise IllegalFlagValueError(f"flag --{self.name}={given}: {error}") from error


def parse_string(given: Any) -> str:
    """A text."""
    if not isinstance(given, (str, bytes)):
        raise TypeError(f"flag value must be a string, found '{type(given)}'")
    return given if isinstance(given, str) else given.decode()


def parse_integer(given: Any) -> int:
    """A number: decimal, or with 0x or 0o in front."""
    if not isinstance(given, str):
        if isinstance(given, bool) or int(given) != given:
            raise TypeError(f"expect argument to be a string or int, found {type(given)}")
        return int(given)
    base = {"0x": 16, "0o": 8}.get(given.lower()[:2], 10)
    return int(given, base)


def parse_float(given: Any) -> float:
    """A number."""
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        raise TypeError(f"Expect argument to be a string, int, or float, found {type(given)}")
    return float(given)


def parse_boolean(given: Any) -> bool:
    """A truth value: true, t or 1; false, f or 0."""
    text = str(given).lower()
    if text not in ("true", "t", "1", "false", "f", "0"):
        raise ValueError(f"Non-boolean argument to boolean flag: {given}")
    return text in ("true", "t", "1")


def parse_list(given: Any) -> list[str]:
    """Texts between commas."""
    if isinstance(given, (list, tuple)):
        return list(given)
    return [part.strip() for part in given.split(",")] if given else []


def parse_words(given: Any) -> list[str]:
    """Texts between spaces."""
    return list(given) if isinstance(given, (list, tuple)) else str(given).split()


def enum_parser(values: Sequence[str], case_sensitive: bool = True) -> Callable[[Any], str]:
    """A function that takes these texts only."""

    def parse(given: Any) -> str:
        for value in values:
            if value == given or (not case_sensitive and value.lower() == str(given).lower()):
                return value
        raise ValueError(f"value should be one of <{'|'.join(values)}>")

    return parse


def bounded(
    parse: Callable[[Any], Any], lower: float | None, upper: float | None
) -> Callable[[Any], Any]:
    """A function that takes numbers from `lower` to `upper` only."""

    def parse_bounded(given: Any) -> Any:
        value = parse(given)
        if (lower is not None and value < lower) or (upper is not None and value > upper):
            raise ValueError(f"{value} is not in the range [{lower}, {upper}]")
        return value

    return parse_bounded

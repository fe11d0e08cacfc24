"""`tf.flags`: values from the command line.

    tf.flags.DEFINE_integer("steps", 100, "How many.")
    FLAGS = tf.flags.FLAGS
    FLAGS.steps                    # --steps=200, --steps 200

The command line is read when a flag is first used, or by `tf.app.run`.  It ends at the first word
that is no flag, and at `--`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from byparts_frontend_tf.api.flags.kinds import (
    DuplicateFlagError,
    Error,
    Flag,
    UnrecognizedFlagError,
    flag_symbol,
)


@flag_symbol("FlagValues")
class FlagValues:
    """All flags; each is an attribute, which may be set.

    Raises:
        AttributeError: no flag has that name.
        Error: the command line, which is read at the first use, is wrong.
    """

    def __init__(self) -> None:
        self.__dict__["__flags"] = {}
        self.__dict__["__parsed"] = False

    def __getattr__(self, name: str) -> Any:
        if name not in self._flags:
            raise AttributeError(name)
        if not self.is_parsed():
            self(sys.argv)
        return self._flags[name].value

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._flags:
            raise AttributeError(name)
        flag = self._flags[name]
        flag.value = value
        flag.present += 1
        flag.check()

    def __delattr__(self, name: str) -> None:
        if name not in self._flags:
            raise AttributeError(name)
        del self._flags[name]

    def __getitem__(self, name: str) -> Flag:
        return self._flags[name]

    def __setitem__(self, name: str, flag: Flag) -> None:
        if name in self._flags:
            raise DuplicateFlagError(f"The flag '{name}' is defined twice.")
        self._flags[name] = flag

    def __contains__(self, name: object) -> bool:
        return name in self._flags

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._flags))

    def __len__(self) -> int:
        return len(self._flags)

    def __dir__(self) -> list[str]:
        return sorted(self._flags)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        """Read a command line, whose first word is the program; what is left of it.

        Args:
            argv: the words.
            known_only: leave flags that are not defined among the words that are left.

        Raises:
            UnrecognizedFlagError: a flag is not defined.
            IllegalFlagValueError: a value is none for its flag, or a required one is missing.
        """
        if not argv:
            raise ValueError(
                "argv cannot be an empty list, and must contain the program name as "
                "the first element."
            )
        for flag in self._flags.values():
            if flag.present:
                flag.reset()
        left = self._read(list(argv[1:]), known_only)
        self.mark_as_parsed()
        self.validate_all_flags()
        return [argv[0], *left]

    @property
    def _flags(self) -> dict[str, Flag]:
        flags: dict[str, Flag] = self.__dict__["__flags"]
        return flags

    def flag_values_dict(self) -> dict[str, Any]:
        """The values by name."""
        return {name: flag.value for name, flag in self._flags.items()}

    def is_parsed(self) -> bool:
        """Whether a command line was read."""
        return bool(self.__dict__["__parsed"])

    def mark_as_parsed(self) -> None:
        """Take the values as they are; no command line is read any more."""
        self.__dict__["__parsed"] = True

    def unparse_flags(self) -> None:
        """Have every flag as if no command line was read; the next use reads one."""
        for flag in self._flags.values():
            flag.reset()
        self.__dict__["__parsed"] = False

    def set_default(self, name: str, value: Any) -> None:
        """Change a default, and the value if the command line did not have it."""
        flag = self._flags[name]
        flag.default = flag._of(value)
        if not flag.present:
            flag.value = flag.default

    def validate_all_flags(self) -> None:
        """Raise IllegalFlagValueError unless all values pass their checks."""
        for flag in self._flags.values():
            flag.check()

    def flags_into_string(self) -> str:
        """The values as they would stand on a command line, a line for each."""
        return "".join([f"{text}\n" for f in self._flags.values() if (text := f.serialize())])

    def get_help(self, prefix: str = "", include_special_flags: bool = True) -> str:
        """Text that explains each flag: its name, what it is for, and its default."""
        lines = []
        for name in self:
            flag = self._flags[name]
            shown = f"--[no]{name}" if flag.boolean else f"--{name}"
            lines.append(f"{prefix}  {shown}: {flag.help}\n{prefix}    (default: {flag.default!r})")
        return "\n".join(lines)

    main_module_help = get_help
    _parse_flags: Callable[[FlagValues], list[str]] = lambda self: self(sys.argv)

    def _read(self, words: list[str], known_only: bool) -> list[str]:
        """Take all flags of these words; what is left."""
        left: list[str] = []
        while words:
            word = words.pop(0)
            if word == "--":
                return left + words
            if not word.startswith("-") or word == "-":
                if not known_only:
                    return [*left, word, *words]
                left.append(word)
                continue
            name, equals, text = word.lstrip("-").partition("=")
            flag, off = self._named(name)
            if flag is None:
                if not known_only:
                    raise self._unknown(name)
                left.append(word)
            elif off or (flag.boolean and not equals):
                flag.take("false" if off else "true")
            elif equals or words:
                flag.take(text if equals else words.pop(0))
            else:
                raise Error(f"Missing value for flag --{name}")
        return left

    def _named(self, name: str) -> tuple[Flag | None, bool]:
        """The flag, and whether it is switched off by "no" in front."""
        flag = self._flags.get(name)
        if flag is not None:
            return flag, False
        flag = self._flags.get(name[2:]) if name.startswith("no") else None
        return (flag, True) if flag is not None and flag.boolean else (None, False)

    def _unknown(self, name: str) -> UnrecognizedFlagError:
        near = get_close_matches(name, self._flags, 1)
        hint = f". Did you mean: {near[0]} ?" if near else ""
        return UnrecognizedFlagError(f"Unknown command line flag '{name}'{hint}")


FLAGS = FlagValues()
SYMBOLS = {f"{place}flags.FLAGS": "FLAGS" for place in ("", "app.", "python.platform.")}

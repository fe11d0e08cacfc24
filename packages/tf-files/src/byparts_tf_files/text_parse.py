"""Reads protobuf's text format.  Every refusal is a `ParseError` with the line and the column."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from byparts_graph_ir import FormatError
from byparts_tf_files.fields import Field, MapField, ScalarField, ScalarsField
from byparts_tf_files.wire import MAX_DEPTH

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|\#[^\n]*)+)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fF]?)
    |(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<mark>[][{}<>:,;-])""",
    re.VERBOSE | re.ASCII,
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTERS = dict(zip(b"abfnrtv\\'\"?", b"\a\b\f\n\r\t\v\\'\"?", strict=True))
_CLOSING = {"{": "}", "<": ">"}


class ParseError(FormatError):
    """Text that is no message; it says the line and the column."""


class _Token(NamedTuple):
    kind: str  # "name", "number", "string", "mark", or "end"
    text: str
    at: int


def merge_text(text: str, message: Any) -> None:
    """Take over the fields of a message in text.

    Raises:
        ParseError: the text is none of this class.
    """
    _Reader(text).fields(message, "", 0)


class _Reader:
    """Reads one text, token by token."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._token = self._following(0)

    def fields(self, message: Any, closing: str, depth: int) -> None:
        """Fields up to the mark `closing`, or to the end."""
        if depth > MAX_DEPTH:
            raise self._fault(f"messages in messages, more than {MAX_DEPTH} deep")
        while not self._take(closing) if closing else self._token.kind != "end":
            name = self._expect("name", "the name of a field")
            field = message._fields.get(name)
            if field is None:
                raise self._fault(f"{type(message).__name__} has no field {name!r:.60}")
            colon = self._take(":")
            if self._take("["):
                self._list(message, field, depth)
            else:
                self._value(message, field, colon, depth)
            self._take(",") or self._take(";")

    def _list(self, message: Any, field: Field, depth: int) -> None:
        if not field.repeated:
            raise self._fault(f"a list for {field.name!r}, which is not repeated")
        while not self._take("]"):
            self._value(message, field, True, depth)
            if not self._take(",") and self._token.text != "]":
                raise self._fault("expected , or ]")

    def _value(self, message: Any, field: Field, colon: bool, depth: int) -> None:
        if isinstance(field, (ScalarField, ScalarsField)):
            if not colon:
                raise self._fault(f"expected : after {field.name!r}")
            self._scalar(message, field)
            return
        opening = self._token.text if self._token.kind == "mark" else ""
        if opening not in _CLOSING:
            raise self._fault("expected { or <")
        self._take(opening)
        if isinstance(field, MapField):
            entry = field.entry()
            self.fields(entry, _CLOSING[opening], depth + 1)
            field.put_entry(message, entry)
            return
        inner = getattr(message, field.name)
        inner = inner.add() if field.repeated else inner
        inner.SetInParent()
        self.fields(inner, _CLOSING[opening], depth + 1)

    def _scalar(self, message: Any, field: Any) -> None:
        token = self._token
        try:
            value = self._parsed(field)
            field.put(message, [value] if field.repeated else value)
        except (ValueError, TypeError) as error:
            if isinstance(error, ParseError):
                raise
            raise self._fault(f"{field.name}: {error}", token.at) from error

    def _parsed(self, field: Any) -> Any:
        kind = field.scalar.name
        if kind in ("string", "bytes"):
            data = self._strings()
            return data if kind == "bytes" else data.decode()
        minus = self._take("-")
        token = self._token
        if token.kind not in ("name", "number"):
            raise self._fault("expected a value")
        self._token = self._following(token.at + len(token.text))
        if field.enum is not None and token.kind == "name" and not minus:
            return field.enum.Value(token.text)
        if kind == "bool":
            return _BOOLS[token.text] if token.text in _BOOLS and not minus else token.text
        if kind in ("float", "double"):
            number = float(
                token.text.lower().removesuffix("f")
                if token.kind == "number"
                else _FLOATS.get(token.text.lower(), "x")
            )
            return -number if minus else number
        return int(("-" if minus else "") + token.text, _base(token.text))

    def _strings(self) -> bytes:
        """Strings one behind the other are one."""
        parts = [self._expect("string", "a string")]
        while self._token.kind == "string":
            parts.append(self._expect("string", "a string"))
        return b"".join([_ESCAPE.sub(self._unescaped, p[1:-1].encode()) for p in parts])

    def _unescaped(self, match: re.Match[bytes]) -> bytes:
        octal, hexadecimal, letter = match.groups()
        if letter is not None:
            if letter[0] not in _LETTERS:
                raise self._fault(f"no escape is \\{letter.decode('latin-1')}")
            return bytes((_LETTERS[letter[0]],))
        number = int(octal, 8) if octal else int(hexadecimal, 16)
        if number > 255:
            raise self._fault(f"an escape of {number}; expected at most 255")
        return bytes((number,))

    def _take(self, mark: str) -> bool:
        """Go on if this mark is next."""
        if self._token.kind != "mark" or self._token.text != mark:
            return False
        self._token = self._following(self._token.at + 1)
        return True

    def _expect(self, kind: str, what: str) -> str:
        token = self._token
        if token.kind != kind:
            raise self._fault(f"expected {what}")
        self._token = self._following(token.at + len(token.text))
        return token.text

    def _following(self, at: int) -> _Token:
        """The token at position `at`, or behind the space there."""
        match = _TOKEN.match(self._text, at)
        if match is not None and match.lastgroup == "space":
            at = match.end()
            match = _TOKEN.match(self._text, at)
        if match is not None:
            return _Token(str(match.lastgroup), match[0], at)
        if at == len(self._text):
            return _Token("end", "", at)
        raise self._fault("no token begins here", at)

    def _fault(self, what: str, at: int | None = None) -> ParseError:
        at = self._token.at if at is None else at
        line = self._text.count("\n", 0, at) + 1
        column = at - self._text.rfind("\n", 0, at)
        return ParseError(f"line {line}, column {column}: {what}, at {self._text[at : at + 20]!r}")


_BOOLS = {"true": True, "True": True, "t": True, "1": True} | {
    "false": False,
    "False": False,
    "f": False,
    "0": False,
}
_FLOATS = {"inf": "inf", "infinity": "inf", "nan": "nan"}


def _base(text: str) -> int:
    if text[:2] in ("0x", "0X"):
        return 16
    return 8 if text[0] == "0" and text.isdigit() and len(text) > 1 else 10

"""Protobuf's text format (.pbtxt): what `str(message)` is, and reading it back.

Source: "Text Format Language Specification" (protobuf.dev/reference/protobuf/textformat-spec).
The functions are called as in protobuf's module `text_format`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, TypeVar, Union

from byparts_tf_files.fields import Field, ScalarField, ScalarsField
from byparts_tf_files.scalars import SCALARS
from byparts_tf_files.text_parse import ParseError, merge_text

M = TypeVar("M")
_SHORT = {10: r"\n", 13: r"\r", 9: r"\t", 34: r"\"", 39: r"\'", 92: r"\\"}
_ESCAPES = [
    _SHORT.get(byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in range(256)
]


def MessageToString(message: Any, as_one_line: bool = False, **_: Any) -> str:  # noqa: N802 - protobuf's name
    """A message as text; fields that its class does not have are left out."""
    text = "".join(_lines(message, 0))
    return re.sub(r"\s*\n\s*", " ", text).rstrip(" ") if as_one_line else text


def PrintMessage(message: Any, out: Any, indent: int = 0, **_: Any) -> None:  # noqa: N802 - protobuf's name
    """Write a message to a text file."""
    out.writelines(_lines(message, indent))


def Merge(text: Union[str, bytes], message: M, **_: Any) -> M:  # noqa: N802 - protobuf's name
    """Take over the fields of a message in text; the message.

    Raises:
        ParseError: the text is none of this class; the line and column.
    """
    merge_text(text.decode() if isinstance(text, bytes) else text, message)
    return message


Parse = Merge


def _lines(message: Any, indent: int) -> Iterator[str]:
    before = " " * indent
    for field in message._in_order:
        for value in field.values(message):
            if isinstance(field, (ScalarField, ScalarsField)):
                yield f"{before}{field.name}: {_scalar(field, value)}\n"
            else:
                yield f"{before}{field.name} {{\n"
                yield from _lines(value, indent + 2)
                yield f"{before}}}\n"


def _scalar(field: Field, value: Any) -> str:
    if field.enum is not None:
        return field.enum.Name(value) if value in field.enum.values() else str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(value if field.kind == "double" else _shortest(value))
    if isinstance(value, int):
        return str(value)
    data = value.encode() if isinstance(value, str) else value
    return '"' + "".join([_ESCAPES[byte] for byte in data]) + '"'


def _shortest(value: float) -> float:
    """The number with the fewest digits that is the same in 32 bits."""
    if not math.isfinite(value):
        return value
    for digits in (6, 7, 8):
        short = float(f"{value:.{digits}g}")
        if SCALARS["float"].checked(short) == value:
            return short
    return float(f"{value:.9g}")


__all__ = ["MessageToString", "PrintMessage", "Merge", "Parse", "ParseError"]

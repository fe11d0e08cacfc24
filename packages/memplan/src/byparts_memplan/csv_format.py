"""Problems and placements as CSV, for use without any graph: the format of MinimaLLoc.

    id,lower,upper,size,alignment
    conv1,0,2,4096,64

The first line names the columns, in any order.  `id`, `lower`, `upper` (steps, half-open) and
`size` (bytes) must be there.  There may be `alignment` (bytes), `gaps` (`2-4 7-9`: steps,
half-open), `space`, and `offset` or `pinned` (bytes: where it must lie; empty where it may move).
UTF-8; a comma within "quotes" is none.  What is wrong is said with line and column, both from 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO

from byparts_graph_ir import FormatError
from byparts_graph_ir.contract import checked
from byparts_memplan.buffer import Buffer, PlanError
from byparts_memplan.placed import Placement

_REQUIRED = ("id", "lower", "upper", "size")
_OPTIONAL = ("alignment", "gaps", "space", "offset")
_ALSO = {"pinned": "offset"}
_EXPECTED = {
    "lower": "a step",
    "upper": "a step",
    "size": "bytes",
    "alignment": "bytes",
    "offset": "bytes, or nothing where it may move",
}
_MOST_DIGITS = 4000  # of a number; Python reads no more than 4300
_MOST_LETTERS, _MOST_BYTES = 1 << 20, 1 << 28  # of a line, of a file: some ten million buffers
_QUOTED = re.compile(r'\s*"(?:[^"]|"")*"\s*(?=,|$)')
_GAP = re.compile(r"([0-9]{1,4000})-([0-9]{1,4000})")


def read_buffers(
    source: str | os.PathLike[str] | Iterable[str] | Iterable[bytes], name: str = "<lines>"
) -> tuple[tuple[str, ...], tuple[Buffer, ...]]:
    """The ids and the buffers of a file, or of lines that are called `name` in errors.  O(n).

    >>> read_buffers(["id,lower,upper,size", "a,0,2,64"])  # doctest: +ELLIPSIS
    (('a',), (Buffer(size_bytes=64, born=0, dies=2, ...),))

    Raises:
        FormatError: it is damaged; the message begins with `file:line:column: `.
        OSError: the file cannot be read.
    """
    lines, name = _lines(source, name)
    rows = _rows(lines, name)
    header = next(rows, None)
    if header is None:
        raise FormatError(f"{name}:1:1: empty; expected a first line such as {','.join(_REQUIRED)}")
    columns = _columns(header)
    lines_of: dict[str, int] = {}
    buffers = []
    for row in rows:
        row.name(columns)
        key = row.text("id")
        if not key or not key.isprintable():
            raise row.fault("id", f"id is {_shown(key)}; expected text that can be printed")
        if key in lines_of:
            raise row.fault("id", f"id {_shown(key)} is on line {lines_of[key]} already")
        lines_of[key] = row.line
        buffers.append(_buffer(row))
    return tuple(lines_of), tuple(buffers)


@checked
def write_placement(ids: Sequence[str], placement: Placement) -> str:
    """The buffers with their offsets, in order; `read_buffers` reads it as pinned ones.

    Columns `id,lower,upper,size`, then those of `alignment,gaps,space` that some buffer uses, then
    `offset`: what MinimaLLoc writes, and its checker reads.

    >>> print(write_placement(["a"], place([Buffer(64, born=0, dies=2)])), end="")
    id,lower,upper,size,offset
    a,0,2,64,0

    Raises:
        PlanError: there are not as many ids as buffers.
    """
    ids, buffers = tuple(ids), placement.buffers
    if len(ids) != len(buffers):
        raise PlanError(f"{len(ids)} ids but {len(buffers)} buffers")
    rows = {
        "id": [_quoted(key) for key in ids],
        "lower": [b.born for b in buffers],
        "upper": [b.dies for b in buffers],
        "size": [b.size_bytes for b in buffers],
    }
    if any(b.alignment != 1 for b in buffers):
        rows["alignment"] = [b.alignment for b in buffers]
    if any(b.gaps for b in buffers):
        rows["gaps"] = [" ".join([f"{lower}-{upper}" for lower, upper in b.gaps]) for b in buffers]
    if any(b.space for b in buffers):
        rows["space"] = [_quoted(b.space) for b in buffers]
    rows["offset"] = list(placement.offsets)
    lines = [",".join(rows), *[",".join(map(str, row)) for row in zip(*rows.values(), strict=True)]]
    return "\n".join([*lines, ""])


class _Row:
    """The fields of one line; `columns` says which field is which."""

    def __init__(self, file: str, line: int, text: str) -> None:
        self.file, self.line = file, line
        self.fields = _split(text)
        self.columns: Mapping[str, int] = {}

    def name(self, columns: Mapping[str, int]) -> None:
        """Set which field is which, after a check that there are as many fields as columns."""
        self.columns = columns
        if len(self.fields) != len(columns):
            extra = min(len(self.fields), len(columns))
            names = ",".join(columns)
            raise self.fault(extra, f"{len(self.fields)} fields; expected {len(columns)}: {names}")

    def text(self, column: str | int) -> str:
        """A field without the quotes and blanks around it; empty where there is none."""
        k = column if isinstance(column, int) else self.columns.get(column)
        if k is None:
            return ""
        text = self.fields[k].strip()
        if not text.startswith('"'):
            return text
        if not _QUOTED.fullmatch(text):
            raise self.fault(k, f"{_shown(text)} begins with a quote; expected one at its end too")
        return text[1:-1].replace('""', '"')

    def integer(self, column: str) -> int:
        """A field that is a number, not negative."""
        text = self.text(column)
        if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
            return int(text)
        problem = "not an integer"
        if not text:
            problem = "empty"
        elif text.isascii() and text.isdigit():
            problem = f"a number of {len(text)} digits"
        elif text.startswith("-") and text[1:].isdigit():
            problem = "negative"
        raise self.fault(
            column, f"{column} is {_shown(text)}: {problem}; expected {_EXPECTED[column]}"
        )

    def fault(self, column: str | int, what: str) -> FormatError:
        """The error that points at a field, or behind the last one."""
        k = self.columns[column] if isinstance(column, str) else column
        start = sum([len(field) + 1 for field in self.fields[:k]])
        if k < len(self.fields):
            start += len(self.fields[k]) - len(self.fields[k].lstrip())
        else:
            start -= 1
        return FormatError(f"{self.file}:{self.line}:{start + 1}: {what}")


def _lines(
    source: str | os.PathLike[str] | Iterable[str] | Iterable[bytes], name: str
) -> tuple[Iterable[str | bytes], str]:
    """The lines of a file or as given, and what errors call them."""
    if isinstance(source, str) and "\n" in source:
        raise PlanError(f"no path, but lines: {_shown(source)}; expected text.splitlines()")
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return lines_of(file, os.fspath(source)), os.fspath(source)
    if not isinstance(source, Iterable):
        raise PlanError(f"{source!r:.60} is no path; expected one, or lines")
    return source, name


def lines_of(file: IO[bytes], name: str) -> list[bytes]:
    """The lines of a file, with line ends of any system.

    Raises:
        FormatError: there is too much.
    """
    data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise FormatError(f"{name}: more than {_MOST_BYTES} bytes; expected a table of buffers")
    return data.splitlines()


def _rows(lines: Iterable[str | bytes], name: str) -> Iterator[_Row]:
    """The rows of the lines that are not blank."""
    for number, line in enumerate(lines, 1):
        if not isinstance(line, (str, bytes)):
            raise FormatError(f"{name}:{number}:1: {line!r:.60}; expected a line of text")
        if len(line) > _MOST_LETTERS:
            at = f"{name}:{number}:{_MOST_LETTERS}"
            raise FormatError(f"{at}: a line of {len(line)} letters; expected one for each buffer")
        text = line if isinstance(line, str) else _decoded(line, f"{name}:{number}")
        if number == 1:
            text = text.removeprefix("\ufeff")  # a byte order mark
        text = text.rstrip("\r\n")
        if text and not text.isspace():
            yield _Row(name, number, text)


def _decoded(line: bytes, where: str) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        column = len(line[: error.start].decode()) + 1
        byte = line[error.start]
        raise FormatError(f"{where}:{column}: byte 0x{byte:02x}; expected text in UTF-8") from None


def _split(line: str) -> list[str]:
    """The fields of a line, with their quotes."""
    if '"' not in line:
        return line.split(",")
    fields, start = [], 0
    while start <= len(line):
        quoted = _QUOTED.match(line, start)
        comma = quoted.end() if quoted else line.find(",", start)
        end = len(line) if comma < 0 else comma
        fields.append(line[start:end])
        start = end + 1
    return fields


def _columns(header: _Row) -> dict[str, int]:
    """The position of each column."""
    known = f"{','.join(_REQUIRED)} and perhaps {','.join(_OPTIONAL)}"
    columns: dict[str, int] = {}
    for k in range(len(header.fields)):
        name = header.text(k).lower()
        column = _ALSO.get(name, name)
        if column not in (*_REQUIRED, *_OPTIONAL):
            raise header.fault(k, f"column {_shown(name)} is unknown; {_advice(name)}{known}")
        if column in columns:
            raise header.fault(k, f"column {name} is column {columns[column] + 1} again")
        columns[column] = k
    if missing := [column for column in _REQUIRED if column not in columns]:
        end = len(header.fields)
        raise header.fault(end, f"no column {' and no '.join(missing)}; expected {known}")
    return columns


def _advice(column: str) -> str:
    """The likely mistake in a header."""
    if any(mark in column for mark in ";\t|"):
        return "expected columns with commas between them: "
    if column.isdigit():
        return "expected a first line that names the columns: "
    if column in ("begin", "start", "end"):
        return "a life is from lower to upper, the first step without it: expected "
    return "expected "


def _buffer(row: _Row) -> Buffer:
    born, dies, size_bytes = row.integer("lower"), row.integer("upper"), row.integer("size")
    if dies < born:
        raise row.fault("upper", f"upper is {dies}; expected lower, {born}, or more")
    alignment = row.integer("alignment") if row.text("alignment") else 1
    if alignment < 1:
        raise row.fault("alignment", f"alignment is {alignment}; expected 1 or more bytes")
    pinned = row.integer("offset") if row.text("offset") else None
    if pinned is not None and pinned % alignment:
        raise row.fault("offset", f"offset is {pinned}; expected a multiple of {alignment}")
    gaps = _gaps(row) if row.text("gaps") else ()
    try:
        return Buffer(size_bytes, born, dies, alignment, pinned, gaps, row.text("space"))
    except PlanError:
        raise row.fault(
            "gaps",
            f"gaps are {_shown(row.text('gaps'))}; expected them sorted, apart, within the steps "
            f"{born}-{dies}",
        ) from None


def _gaps(row: _Row) -> tuple[tuple[int, int], ...]:
    gaps = []
    for text in row.text("gaps").split():
        matched = _GAP.fullmatch(text)
        if not matched:
            raise row.fault("gaps", f"gap {_shown(text)}; expected steps, such as 2-4 7-9")
        gaps.append((int(matched[1]), int(matched[2])))
    return tuple(gaps)


def _quoted(text: str) -> str:
    plain = text == text.strip() and not any(mark in text for mark in ',"\r\n')
    return text if plain else '"' + text.replace('"', '""') + '"'


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:39]}…")

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from problems import problems

from byparts_graph_ir import FormatError
from byparts_memplan import Buffer, Placement, PlanError, read_buffers, write_placement
from byparts_memplan.csv_format import lines_of

HEADER = "id,lower,upper,size"
FULL = "id,lower,upper,size,alignment,gaps,space,offset"


def test_reads_the_four_columns() -> None:
    """Ids are text, the rest are steps and bytes."""
    assert read_buffers([HEADER, "a,0,2,64", "7,1,3,0"]) == (
        ("a", "7"),
        (Buffer(64, 0, 2), Buffer(0, 1, 3)),
    )


def test_reads_every_column_in_any_order() -> None:
    """Upper case and blanks do not matter; an empty field is the default."""
    ids, buffers = read_buffers(
        [
            "Space, size ,gaps,upper,lower,id,Alignment,pinned",
            "npu,64,2-4 7-8,9,0,a,16,32",
            ",8,,2,1,b,,",
        ]
    )

    assert ids == ("a", "b")
    assert buffers == (Buffer(64, 0, 9, 16, 32, ((2, 4), (7, 8)), "npu"), Buffer(8, 1, 2))


def test_quoted_ids() -> None:
    """A comma or a quote may be in one."""
    assert read_buffers([HEADER, '"a, ""b""", 0 , 2 ,64', 'c"d,0,1,1'])[0] == ('a, "b"', 'c"d')


def test_windows_files(tmp_path: Path) -> None:
    """A byte order mark, carriage returns, blank lines and no newline at the end."""
    path = tmp_path / "problem.csv"
    path.write_bytes(b"\xef\xbb\xbfid,lower,upper,size\r\n\r\n \r\na,0,2,64\r\n\r\nb,1,2,8")

    assert read_buffers(path) == (("a", "b"), (Buffer(64, 0, 2), Buffer(8, 1, 2)))


def test_a_header_alone_is_no_buffers() -> None:
    """Which is a problem like any other."""
    assert read_buffers([HEADER]) == ((), ())


def test_numbers_of_any_size() -> None:
    """Python has no largest one."""
    assert read_buffers([HEADER, f"a,0,2,{10**30}"])[1][0].size_bytes == 10**30


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,0,2", "2:6: 3 fields; expected 4: id,lower,upper,size"),
        ("a,0,2,3,4", "2:9: 5 fields; expected 4: id,lower,upper,size"),
        ("a,0,2,x", "2:7: size is 'x': not an integer; expected bytes"),
        ("a,0,2, 6.5", "2:8: size is '6.5': not an integer; expected bytes"),
        ("a,0,2,", "2:7: size is '': empty; expected bytes"),
        ("a,0,2,1_0", "2:7: size is '1_0': not an integer; expected bytes"),
        ("a,0,2,-8", "2:7: size is '-8': negative; expected bytes"),
        ("a,-1,2,8", "2:3: lower is '-1': negative; expected a step"),
        ("a,0,zwei,8", "2:5: upper is 'zwei': not an integer; expected a step"),
        ("a,5,2,8", "2:5: upper is 2; expected lower, 5, or more"),
        (",5,6,8", "2:1: id is ''; expected text that can be printed"),
        ("\x1b[2J,5,6,8", "2:1: id is '\\x1b[2J'; expected text that can be printed"),
        ('"a,b",0,x,8', "2:9: upper is 'x': not an integer; expected a step"),
        ('"a,0,1,8', "2:1: '\"a' begins with a quote; expected one at its end too"),
        ("a,0,1," + "9" * 5000, f"2:7: size is '{'9' * 39}…': a number of 5000 digits; expected bytes"),
    ],
)  # fmt: skip
def test_a_bad_row(row: str, message: str) -> None:
    """Line and column, what was found and what was expected."""
    with pytest.raises(FormatError, match=f"^f.csv:{re.escape(message)}$"):
        read_buffers([HEADER, row], "f.csv")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("0,,,", "2:9: alignment is 0; expected 1 or more bytes"),
        ("x,,,", "2:9: alignment is 'x': not an integer; expected bytes"),
        ("16,,,8", "2:14: offset is 8; expected a multiple of 16"),
        ("1,,,-1", "2:13: offset is '-1': negative; expected bytes, or nothing where it may move"),
        ("1,2-,,", "2:11: gap '2-'; expected steps, such as 2-4 7-9"),
        ("1,2-3@0:4,,", "2:11: gap '2-3@0:4'; expected steps, such as 2-4 7-9"),
        ("1,5-6 2-3,,", "2:11: gaps are '5-6 2-3'; expected them sorted, apart, within the steps 0-9"),
        ("1,2-12,,", "2:11: gaps are '2-12'; expected them sorted, apart, within the steps 0-9"),
    ],
)  # fmt: skip
def test_a_bad_field_of_those_that_may_be_absent(fields: str, message: str) -> None:
    """Likewise."""
    with pytest.raises(FormatError, match=f"^f.csv:{re.escape(message)}$"):
        read_buffers([FULL, f"a,0,9,8,{fields}"], "f.csv")


@pytest.mark.parametrize(
    ("header", "match"),
    [
        ("id,lower,upper", "^f:1:15: no column size; expected id,lower,upper,size and perhaps "),
        ("id", "^f:1:3: no column lower and no upper and no size; "),
        ("id,start,end,size", "^f:1:4: column 'start' is unknown; a life is from lower to upper, "),
        ("id,name,end,size", "^f:1:4: column 'name' is unknown; expected id,lower,upper,size"),
        (
            "id;lower;upper;size",
            "^f:1:1: column 'id;lower;upper;size' is unknown; expected columns with commas between",
        ),
        ("id,lower,upper,size,size", "^f:1:21: column size is column 4 again$"),
        ("id,lower,upper,size,offset,pinned", "^f:1:28: column pinned is column 5 again$"),
        ("0,0,2,64", "^f:1:1: column '0' is unknown; expected a first line that names "),
    ],
)
def test_a_bad_header(header: str, match: str) -> None:
    """The names that there are stand beside it."""
    with pytest.raises(FormatError, match=match):
        read_buffers([header, "a,0,1,1"], "f")


@pytest.mark.parametrize("lines", [[], ["", "  ", "\r\n"]])
def test_nothing_at_all(lines: list[str]) -> None:
    """Not even a header."""
    with pytest.raises(FormatError, match=r"^f:1:1: empty; expected a first line such as id,lower"):
        read_buffers(lines, "f")


def test_ids_are_names() -> None:
    """Two of the same are an error, with both lines."""
    with pytest.raises(FormatError, match=r"^f:4:1: id 'a' is on line 2 already$"):
        read_buffers([HEADER, "a,0,1,1", "b,0,1,1", "a,0,1,1"], "f")


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00", ":1:1: byte 0x89; expected text in UTF-8"),
        (b"\xff\xfei\x00d\x00", ":1:1: byte 0xff; expected text in UTF-8"),
        (b"id,lower,upper,size\n\xc3\xa9\xe9,0,1,1\n", ":2:2: byte 0xe9; expected text in UTF-8"),
        (b"PK\x03\x04\x14\x00", ":1:1: column .* is unknown"),
    ],
)
def test_rubbish(tmp_path: Path, data: bytes, match: str) -> None:
    """A picture, UTF-16, Latin-1, an archive."""
    path = tmp_path / "f.csv"
    path.write_bytes(data)

    with pytest.raises(FormatError, match=match):
        read_buffers(path)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=60), st.sampled_from([b"", b"id,lower,upper,size\n", b"id,gaps,lower\n"]))
def test_any_bytes_are_read_or_refused(data: bytes, header: bytes) -> None:
    """With file, line and column; nothing else is raised."""
    said = "f:1:1: nothing"
    try:
        read_buffers((header + data).splitlines(), "f")
    except FormatError as error:
        said = str(error)

    assert re.match(r"f:\d+:\d+: ", said)


@settings(max_examples=300, deadline=None)
@given(problems(spaces=["", "npu", 'a "b", c']), st.data())
def test_round_trip(problem: list[Buffer], data: st.DataObject) -> None:
    """What is written is read back, pinned where it was placed, whatever the ids."""
    name = st.text('ab", é', min_size=1)
    size = len(problem)
    ids = tuple(data.draw(st.lists(name, min_size=size, max_size=size, unique=True)))
    offsets = tuple(b.alignment * data.draw(st.integers(0, 9)) for b in problem)
    text = write_placement(ids, Placement(tuple(problem), offsets, 0, 0, ""))
    expected = tuple(
        Buffer(b.size_bytes, b.born, b.dies, b.alignment, offset, b.gaps, b.space)
        for b, offset in zip(problem, offsets, strict=True)
    )

    assert read_buffers(text.split("\n")) == (ids, expected)
    assert [row["id"] for row in csv.DictReader(io.StringIO(text))] == list(ids)


def test_only_columns_that_say_something_are_written() -> None:
    """Of plain buffers, the four and the offset."""
    plain = Placement((Buffer(4, 0, 2),), (0,), 4, 4, "")
    full = Placement((Buffer(4, 0, 5, 4, None, ((1, 2), (3, 4)), "npu"),), (8,), 12, 4, "")

    assert write_placement(["a"], plain) == "id,lower,upper,size,offset\na,0,2,4,0\n"
    assert write_placement(["a"], full).splitlines() == [
        "id,lower,upper,size,alignment,gaps,space,offset",
        "a,0,5,4,4,1-2 3-4,npu,8",
    ]


def test_as_many_ids_as_buffers() -> None:
    with pytest.raises(PlanError, match="1 ids but 0 buffers"):
        write_placement(["a"], Placement((), (), 0, 0, ""))


@pytest.mark.parametrize(
    ("source", "match"),
    [
        (None, "None is no path; expected one, or lines"),
        ("id,lower\na,0", r"no path, but lines: 'id,lower\\na,0'; expected text.splitlines\(\)"),
        ([HEADER, 7], "f:2:1: 7; expected a line of text"),
        (
            [HEADER, "," * (1 << 20) + "1"],
            "f:2:1048576: a line of 1048577 letters; expected one for",
        ),
    ],
)
def test_what_is_no_file(source: Any, match: str) -> None:
    with pytest.raises((PlanError, FormatError), match=f"^{match}"):
        read_buffers(source, "f")


def test_a_file_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as /dev/zero: not all memory is filled with it."""
    monkeypatch.setattr("byparts_memplan.csv_format._MOST_BYTES", 9)

    with pytest.raises(FormatError, match="f: more than 9 bytes; expected a table of buffers"):
        lines_of(io.BytesIO(b"0" * 10), "f")

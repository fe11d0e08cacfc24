"""Columns of CSV files: typed, and with the line in every error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from byparts_graph_ir import ArgumentError, FormatError
from byparts_nn.data import Data, read_csv


def table(tmp_path: Path, text: str | bytes, *args: Any, **options: Any) -> dict[str, Any]:
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_csv(path, *args, **options)


def test_kinds_are_found(tmp_path: Path) -> None:
    """Whole numbers, numbers, and text; quotes, a byte order mark and Windows' ends of lines."""
    text = (
        '\ufeffn,x,name,huge\r\n1,0.5,"a, ""b""",9223372036854775808\r\n-2,1e3,"two\nlines",1\r\n'
    )
    columns = table(tmp_path, text)

    assert columns["n"].tolist() == [1, -2] and columns["n"].dtype == np.int64
    assert columns["x"].tolist() == [0.5, 1000] and columns["x"].dtype == np.float32
    assert columns["name"].tolist() == ['a, "b"', "two\nlines"]
    assert columns["huge"].dtype == np.float32


def test_kinds_are_asked_for(tmp_path: Path) -> None:
    """Only the columns named, in that order; empty fields where a number stands for them."""
    kinds = {"b": "f64", "a": "bool", "c": "text"}
    text = "a;b;c\n1;;yes\n\n0;4;true\n"
    columns = table(tmp_path, text, kinds, missing={"b": -1}, delimiter=";")

    assert [*columns] == ["b", "a", "c"]
    assert columns["b"].tolist() == [-1, 4] and columns["b"].dtype == np.float64
    assert columns["a"].tolist() == [True, False]
    ((*_, c),) = Data(columns).columns("b", "a", "c").batch(2).epoch(0)
    assert c.tolist() == ["yes", "true"]


@pytest.mark.parametrize(
    ("text", "columns", "words"),
    [
        ("", None, "t.csv is empty; its first line must name"),
        ("a,b,a\n", None, "t.csv:1: two columns are called 'a'"),
        ("a,b\n1,2\n", {"c": "i64"}, "t.csv:1: no column 'c'; there are a, b"),
        ("a,b\n1,2\n\n3\n", None, "t.csv:4: 1 fields; the heading has 2"),
        ("a,b\n1,2,3\n", None, "t.csv:2: 3 fields; the heading has 2"),
        ("a\n1\nx\n", {"a": "i64"}, "t.csv:3: column 'a' has 'x'; expected a whole number"),
        ("a\n1_000\n", {"a": "i64"}, "t.csv:2: column 'a' has '1_000'"),
        ("a\n\u0663\n", {"a": "i64"}, "t.csv:2: column 'a' has"),
        ("a\n9223372036854775808\n", {"a": "i64"}, "whole number of 64 bits"),
        ("a\n1_0.5\n", {"a": "f32"}, "t.csv:2: column 'a' has '1_0.5'; expected a number"),
        ("a\n0x10\n", {"a": "f64"}, "t.csv:2: column 'a' has '0x10'"),
        ("a\n1e39\n", {"a": "f32"}, "t.csv:2: column 'a' has '1e39'; expected a number"),
        ("a\n1e999\n", {"a": "f64"}, "t.csv:2: column 'a' has '1e999'; expected a number"),
        ('a,b\n1,""\n', {"b": "f32"}, "column 'b' has ''; expected a number, give missing="),
        ("a\nmaybe\n", {"a": "bool"}, "column 'a' has 'maybe'; expected 0 or 1"),
        ('a\n"1\n2\n3\n', None, "t.csv:2: unexpected end of data"),
        ('a\n"1"2\n', None, "t.csv:2: ',' expected after '\"'"),
        (b"a\n1\n\xff\n", None, r"t.csv: after line \d: 'utf-8' codec can't decode"),
        ("a\n" + "9" * 200_000 + "\n", None, "t.csv:2: field larger than field limit"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(
    tmp_path: Path, text: str, columns: Any, words: str
) -> None:
    """Damage and numbers that files do not have are refused."""
    with pytest.raises(FormatError, match=words):
        table(tmp_path, text, columns)


def test_a_kind_that_is_none(tmp_path: Path) -> None:
    """The error lists the kinds."""
    with pytest.raises(ArgumentError, match="column 'a' is 'int'; known are f32, f64, i64, bool"):
        table(tmp_path, "a\n1\n", {"a": "int"})
    with pytest.raises(ArgumentError, match="has a fraction for column 'a', which is i64"):
        table(tmp_path, "a\n\n1\n", {"a": "i64"}, missing={"a": 0.5})


def test_infinities_and_nan_are_numbers(tmp_path: Path) -> None:
    """Spelled out they are meant."""
    column = table(tmp_path, "a\n-inf\nNaN\nInfinity\n")["a"]

    assert column.dtype == np.float32 and str(column.tolist()) == "[-inf, nan, inf]"


@given(text=st.text(alphabet='a1.,"\n\r\x00;-e', max_size=40))
def test_any_text_is_a_table_or_a_format_error(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    """Nothing else is raised, and all columns have one length."""
    folder = tmp_path_factory.getbasetemp()
    try:
        columns = table(folder, text)
    except FormatError:
        return
    assert len({len(column) for column in columns.values()}) == 1

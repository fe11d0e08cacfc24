"""Fastest ways: measured once, kept on disk, and checked when they are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from byparts_op_loops import measured
from byparts_tensor_ir.cache import keep_text

FILE = measured.file_of("fastest", "this machine", "this code")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of answers, and a process that measures."""
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    monkeypatch.delenv("BYPARTS_MEASURE", raising=False)
    return tmp_path


def _counted(answer: str) -> tuple[Callable[[], str], list[str]]:
    """A measurement that gives `answer`, and a list that has an entry for each call of it."""
    calls: list[str] = []

    def measure() -> str:
        calls.append(answer)
        return answer

    return measure, calls


def _fastest(answer: str, key: str = "a product") -> tuple[str, int]:
    """The answer where a measurement gives `answer`, and how often something was measured."""
    measure, calls = _counted(answer)
    return measured.fastest(FILE, key, ("one", "two"), measure), len(calls)


def test_a_way_is_measured_once_and_kept_on_disk(folder: Path) -> None:
    assert measured.known(FILE, "a product") is None
    assert _fastest("two") == ("two", 1)
    assert _fastest("one") == ("two", 0)
    assert json.loads((folder / FILE).read_text().partition("\n")[2]) == {"a product": "two"}


def test_another_process_reads_what_was_measured() -> None:
    _fastest("two")
    measured._of_folder.cache_clear()  # as in another process

    assert measured.known(FILE, "a product") == "two"
    assert _fastest("one") == ("two", 0)


def test_answers_that_two_processes_write_are_both_kept(folder: Path) -> None:
    _fastest("one", "ours")
    keep_text(FILE, '{"theirs": "two"}')  # by another process, after this one has read the file
    _fastest("two", "ours later")

    text = (folder / FILE).read_text().partition("\n")[2]
    assert json.loads(text) == {"theirs": "two", "ours": "one", "ours later": "two"}


def test_where_nothing_is_measured_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    _fastest("two")
    monkeypatch.setenv("BYPARTS_MEASURE", "0")

    assert not measured.measures()
    assert measured.known(FILE, "a product") is None


@pytest.mark.parametrize("text", ["{}", '{"a product": 3}', '{"a product": "gone"}'])
def test_what_is_remembered_is_checked(text: str) -> None:
    """A number is no name, and a way of other code may be gone: it is measured again."""
    keep_text(FILE, text)

    assert _fastest("one") == ("one", 1)


def test_a_measurement_that_fails_is_not_remembered() -> None:
    def fails() -> str:
        raise MemoryError("no scratch memory")

    with pytest.raises(MemoryError, match="no scratch memory"):
        measured.fastest(FILE, "a product", ("one", "two"), fails)

    assert _fastest("two") == ("two", 1)


def test_the_oldest_answers_are_forgotten(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measured, "_MOST_REMEMBERED", 2)
    for key in ("first", "second", "third"):
        _fastest("one", key)

    assert [measured.known(FILE, k) for k in ("first", "second", "third")] == [None, "one", "one"]
    kept = json.loads((folder / FILE).read_text().partition("\n")[2])
    assert kept == {"second": "one", "third": "one"}


def test_each_machine_and_code_has_a_file_of_its_own() -> None:
    names = {measured.file_of("fastest", *about) for about in (("a", "b"), ("ab", ""), ("a", "c"))}

    assert len(names) == 3 and all(name.startswith("fastest-") for name in names)

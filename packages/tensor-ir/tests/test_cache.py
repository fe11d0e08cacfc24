"""Compiled objects on disk: kept by content, rebuilt where damaged, bounded, never in the way."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byparts_tensor_ir import cache
from byparts_tensor_ir.build import build
from byparts_tensor_ir.compile import CompilerError, _driver, compiled
from byparts_tensor_ir.emit.c import Source
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.statement import Func
from byparts_tensor_ir.tensor import compute, placeholder

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)


def _double(name: str) -> Func:
    a = placeholder((4,), "A")
    return lower([a, compute((4,), lambda i: a[i] * 2.0, "B")], name)


def _run(name: str) -> Any:
    y = np.zeros(4, np.float32)
    build(_double(name), emitter="c")(np.arange(4, dtype=np.float32), y)
    return y.tolist()


def _objects(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.so"))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compiled headers take a second each."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def folder(shared: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BYPARTS_CACHE", str(shared))
    monkeypatch.setattr("byparts_tensor_ir.compile._READ_OFTEN", 0)  # compile the header at once
    for p in _objects(shared):
        p.unlink()
    return shared


def test_equal_code_is_compiled_once(folder: Path) -> None:
    assert _run("once") == [0, 2, 4, 6]
    (made,) = _objects(folder)
    before = made.stat().st_ino
    assert _run("once") == [0, 2, 4, 6]
    assert [p.stat().st_ino for p in _objects(folder)] == [before]


def test_a_damaged_object_is_rebuilt(folder: Path) -> None:
    _run("damaged")
    (made,) = _objects(folder)
    made.unlink()
    made.write_bytes(b"not an object")
    assert _run("damaged") == [0, 2, 4, 6]
    assert made.read_bytes()[:4] == b"\x7fELF"


def test_where_nothing_can_be_written_a_temporary_folder_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BYPARTS_CACHE", "/dev/null/cache")
    cache._writable.cache_clear()
    with pytest.warns(
        RuntimeWarning, match="Not a directory: '/dev/null/cache'; set BYPARTS_CACHE"
    ):
        assert _run("elsewhere") == [0, 2, 4, 6]


def test_the_cache_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was used last is kept, and no sum without its object."""
    monkeypatch.setattr(cache, "CACHE_BYTES", 20_000)
    monkeypatch.setattr(cache, "EVERY", 1)
    header = tmp_path / f"{'f' * 16}.h.gch"
    header.write_bytes(b"h" * 15_000)
    os.utime(header, (0, 0))
    for k in range(4):
        made = tmp_path / "made"
        made.write_bytes(b"x" * 9_000)
        os.utime(made, (k, k + 1))
        cache.put(made, tmp_path / f"{k:032x}.so")
    assert _objects(tmp_path) == [tmp_path / f"{k:032x}.so" for k in (2, 3)]
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".so", ".so", ".sum", ".sum"]


def test_what_others_keep_in_the_folder_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be a project's: only files of our names count and go."""
    monkeypatch.setattr(cache, "CACHE_BYTES", 0)
    others = ["package.json", "libfoo.so", "fastest.json", "kernel.cubin", "notes.cc"]
    ours = [f"{'a' * 32}.so", f"{'a' * 32}.json", f"{'b' * 16}.h.gch", "fastest-cuda-H200.json"]
    for name in (*others, *ours):
        (tmp_path / name).write_text("x")
    cache.trim(tmp_path)

    assert sorted(os.listdir(tmp_path)) == sorted(others)


@pytest.mark.parametrize("mode", [0o777, 0o707, 0o770, 0o775])
def test_a_folder_that_others_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """Everybody, or a group."""
    tmp_path.chmod(mode)
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    with pytest.warns(RuntimeWarning, match="others may write .*; set BYPARTS_CACHE"):
        assert _run("private") == [0, 2, 4, 6]
    assert not _objects(tmp_path)


def test_what_the_compiler_says_is_told(folder: Path) -> None:
    wrong = Source("wrong", 'extern "C" void wrong(void **a) { return 1 }', frozenset(), 0)
    with pytest.raises(CompilerError, match=r"(?s)failed on .*byparts-.*\.cc:.*error"):
        compiled([wrong])


def test_a_refused_source_is_kept_where_nobody_else_can_put_a_link(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It stands in the cache; the folder of all users' temporary files is not used."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    wrong = Source("wrong", 'extern "C" void wrong(void **a) { return 2 }', frozenset(), 0)
    with pytest.raises(CompilerError, match=rf"failed on {folder}/byparts-\w+\.cc:"):
        compiled([wrong])

    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("status", [0, 1])
def test_a_compiler_may_speak_in_any_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """A warning in Latin-1 is no error; an error in Latin-1 is told."""
    real = next(p for p in map(shutil.which, ("g++", "clang++", "c++")) if p)
    fake = tmp_path / "fake"
    fake.write_text(
        f'#!/bin/sh\nprintf "erreur: d\\351faut\\n" >&2\n{real} "$@" || exit 1\nexit {status}\n'
    )
    fake.chmod(0o700)
    monkeypatch.setenv("CXX", str(fake))
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path / "cache"))
    if status:
        with pytest.raises(CompilerError, match="erreur: d\ufffdfaut"):
            _run("encoding")
    else:
        assert _run("encoding") == [0, 2, 4, 6]


@pytest.mark.parametrize(
    ("name", "beside", "runs"),
    [
        ("g++", "gcc", "gcc"),
        ("x86_64-linux-gnu-g++-12", "x86_64-linux-gnu-gcc-12", "x86_64-linux-gnu-gcc-12"),
        ("g++", "cc", "g++"),
        ("clang++", "clancc", "clang++"),
    ],
)
def test_objects_are_linked_by_the_gcc_beside(
    tmp_path: Path, name: str, beside: str, runs: str
) -> None:
    """Where there is one: `g++` would link the C++ library, which no code of ours calls."""
    for file in (tmp_path / name, tmp_path / beside):
        file.touch(0o700)

    assert _driver(str(tmp_path / name)) == str(tmp_path / runs)


def _foreign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make as if all files there now were another user's: only root can give files away."""
    real, numbers = os.fstat, {p.stat().st_ino for p in path.parent.iterdir()}

    def changed(file: int) -> os.stat_result:
        stat = real(file)
        owner = stat.st_uid + (stat.st_ino in numbers)
        return os.stat_result((*stat[:4], owner, *stat[5:]))

    monkeypatch.setattr(os, "fstat", changed)


def _group_may_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.chmod(0o660)


def _a_link(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.rename(path.with_name("target"))
    path.symlink_to("target")


@pytest.mark.parametrize("how", [_foreign, _group_may_write, _a_link])
@pytest.mark.parametrize("end", [".so", ".sum"])
def test_an_object_that_somebody_else_may_have_written_is_rebuilt(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: Any, end: str
) -> None:
    """And it is not loaded: here it would multiply by another number."""
    _run("trusted")
    (made,) = _objects(folder)
    how(made.with_suffix(end), monkeypatch)
    assert cache.kept(made) is None
    number = made.stat().st_ino
    monkeypatch.undo()
    monkeypatch.setenv("BYPARTS_CACHE", str(folder))
    if how is not _foreign:
        assert _run("trusted") == [0, 2, 4, 6]
        assert made.lstat().st_ino != number and made.lstat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("how", [_group_may_write, _a_link])
def test_a_text_that_somebody_else_may_have_written_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, how: Any
) -> None:
    cache.keep_text("0" * 32 + ".json", "text")
    assert cache.kept_text("0" * 32 + ".json") == "text"
    how(folder / ("0" * 32 + ".json"), monkeypatch)

    assert cache.kept_text("0" * 32 + ".json") is None


def test_a_header_is_compiled_when_it_is_read_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A first program has few files, which take less time than the header."""
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    monkeypatch.setattr("byparts_tensor_ir.compile._READ_OFTEN", 2)
    headers = []
    for name in ("first", "second", "third", "fourth"):
        assert _run(name) == [0, 2, 4, 6]
        headers.append([len(list(tmp_path.glob(f"*.{end}"))) for end in ("h", "h.gch")])

    assert headers == [[1, 0], [1, 0], [1, 1], [1, 1]]

"""Compiled objects on disk: kept by content, rebuilt where damaged, bounded, never in the way."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byparts_tensor_ir import cache
from byparts_tensor_ir.build import build
from byparts_tensor_ir.compile import CompilerError, compiled
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
    header = tmp_path / "header.gch"
    header.write_bytes(b"h" * 15_000)
    os.utime(header, (0, 0))
    for k in range(4):
        made = tmp_path / "made"
        made.write_bytes(b"x" * 9_000)
        os.utime(made, (k, k + 1))
        cache.put(made, tmp_path / f"{k}.so")
    assert _objects(tmp_path) == [tmp_path / "2.so", tmp_path / "3.so"]
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".so", ".so", ".sum", ".sum"]


def test_a_folder_that_anybody_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    with pytest.warns(RuntimeWarning, match="others may write .*; set BYPARTS_CACHE"):
        assert _run("private") == [0, 2, 4, 6]
    assert not _objects(tmp_path)


def test_what_the_compiler_says_is_told(folder: Path) -> None:
    wrong = Source("wrong", 'extern "C" void wrong(void **a) { return 1 }', frozenset(), 0)
    with pytest.raises(CompilerError, match=r"(?s)failed on .*byparts-.*\.cc:.*error"):
        compiled([wrong])

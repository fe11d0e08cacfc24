"""Compiled objects on disk: kept by content, rebuilt where damaged, bounded, never in the way."""

from __future__ import annotations

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


def test_equal_code_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    assert _run("once") == [0, 2, 4, 6]
    (made,) = _objects(tmp_path)
    before = made.stat().st_ino
    assert _run("once") == [0, 2, 4, 6]
    assert [p.stat().st_ino for p in _objects(tmp_path)] == [before]


def test_a_damaged_object_is_rebuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    _run("damaged")
    (made,) = _objects(tmp_path)
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
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "CACHE_BYTES", 20_000)
    monkeypatch.setattr(cache, "EVERY", 1)
    for k in range(4):
        _run(f"bounded{k}")
    assert len(_objects(tmp_path)) < 4
    assert sum(p.stat().st_size for p in tmp_path.glob("*.gch")) <= 20_000


def test_a_folder_that_anybody_may_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.chmod(0o777)
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    with pytest.warns(RuntimeWarning, match="others may write .*; set BYPARTS_CACHE"):
        assert _run("private") == [0, 2, 4, 6]
    assert not _objects(tmp_path)


def test_what_the_compiler_says_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BYPARTS_CACHE", str(tmp_path))
    wrong = Source("wrong", 'extern "C" void wrong(void **a) { return 1 }', frozenset(), 0)
    with pytest.raises(CompilerError, match=r"(?s)failed on .*byparts-.*\.cc:.*error"):
        compiled([wrong])

"""What is compiled is reported to whoever builds, file by file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from byparts_graph_ir.backend.progress import listener
from byparts_kernels_native import code
from byparts_tensor_ir.emit.source import Source

needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="no C++ compiler on the path"
)
Reports = list[tuple[int, int, str]]


def waiting(count: int) -> list[str]:
    """Names of functions that are not compiled yet."""
    bodies = [
        f'extern "C" void f(void **) {{ /* progress {i} of {count} */ }}' for i in range(count)
    ]
    return [code.later(Source("f", body, frozenset(), 0)) for body in bodies]


def reports(count: int, in_one_file: int, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Reports:
    monkeypatch.setenv("BYPARTS_CACHE", str(cache))
    monkeypatch.setattr(code, "_MOST_IN_ONE_FILE", in_one_file)
    said: Reports = []
    token = listener.set(lambda *report: said.append(report))
    try:
        code.address(waiting(count)[0])
    finally:
        listener.reset(token)
    return said


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder without these functions; the compiled header, which takes a second, is made once."""
    return tmp_path_factory.mktemp("cache")


@needs_compiler
@pytest.mark.parametrize(
    ("count", "in_one_file", "expected"), [(5, 2, [0, 1, 2, 3]), (3, 1, [0, 1, 2, 3]), (2, 2, [0])]
)
def test_each_file_that_is_compiled_is_reported(
    count: int,
    in_one_file: int,
    expected: list[int],
    monkeypatch: pytest.MonkeyPatch,
    cache: Path,
) -> None:
    """Before the first one too: it may take long."""
    said = reports(count, in_one_file, monkeypatch, cache)
    what = f"files of native code, {count} functions"

    assert said == [(done, -(-count // in_one_file), what) for done in expected]

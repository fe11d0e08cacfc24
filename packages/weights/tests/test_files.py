"""Files of arrays: what is saved comes back, whatever the format; a failed save changes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byparts_graph_ir import FormatError, GraphError, ShapeError, TensorType
from byparts_weights import load, open_file, replace, save
from byparts_weights.dtypes import Array, numpy_dtype

NAMES = ["file", "layer/w", "a.npy", "a", "v.bf16", "ünïcode"]
DTYPES = ("f16", "bf16", "f32", "f64", "i4", "i8", "i16", "i32", "i64", "u8", "bool")
W = {"w": np.arange(100, dtype=np.float32)}


def test_every_name_and_dtype_comes_back(tmp_path: Path) -> None:
    """And numpy.load opens the file too."""
    pytest.importorskip("ml_dtypes")
    path = tmp_path / "step 7"  # no suffix is added
    names = [*NAMES, *DTYPES[len(NAMES) :]]
    arrays: dict[str, Array] = {
        name: np.full(2, 3).astype(numpy_dtype(dtype))
        for name, dtype in zip(names, DTYPES, strict=True)
    }
    save(path, arrays)

    again = load(path)

    assert {n: (a.dtype, a.tolist()) for n, a in again.items()} == {
        n: (a.dtype, a.tolist()) for n, a in arrays.items()
    }
    with np.load(path, allow_pickle=False) as theirs:
        assert theirs["file"].tolist() == [3, 3]
    assert os.listdir(tmp_path) == ["step 7"]


def test_types_are_read_without_the_arrays(tmp_path: Path) -> None:
    """Of an array that is damaged, too: its header is not."""
    np.savez(tmp_path / "x.npz", a=np.ones((2, 3)), b=np.zeros(4, bool))

    with open_file(tmp_path / "x.npz") as file:
        types = {name: file.type(name) for name in file.names}

    assert types == {"a": TensorType("f64", (2, 3)), "b": TensorType("bool", (4,))}


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_has(tmp_path: Path, suffix: str, name: str) -> None:
    """`zipfile` cuts it at the zero, so that it came back as another."""
    with pytest.raises(GraphError, match=r"array .* cannot be saved: its name has a zero byte"):
        save(tmp_path / f"w.{suffix}", {name: np.zeros(2)})
    with pytest.raises(GraphError, match="array 7 cannot be saved: its name is no text"):
        save(tmp_path / f"w.{suffix}", {7: np.zeros(2)})  # type: ignore[dict-item]
    assert os.listdir(tmp_path) == []


def test_an_array_of_a_dtype_that_graph_ir_lacks(tmp_path: Path) -> None:
    with pytest.raises(ShapeError, match=r"unknown dtype dtype.'complex128'."):
        save(tmp_path / "w.npz", {"w": np.zeros(2, complex)})
    assert os.listdir(tmp_path) == []


def test_a_file_never_runs_code(tmp_path: Path) -> None:
    """A pickled array is refused, and so is what is no archive."""
    pickled, text = tmp_path / "pickled.npz", tmp_path / "text"
    np.savez(pickled, a=np.array([_Explodes()], object))
    text.write_text("hello")

    with pytest.raises(FormatError, match=r"pickled.npz is no .npz of arrays"):
        load(pickled)
    with pytest.raises(FormatError, match=r"text is no .npz of arrays"):
        load(text)


class _Explodes:
    def __reduce__(self) -> Any:
        return (_explode, ())


def _explode() -> None:
    raise AssertionError("code of the file was run")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """The archive's checksum finds a changed byte."""
    path = tmp_path / "x.npz"
    save(path, W)
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(bytes(data))

    with pytest.raises(FormatError, match=r"no .npz of arrays"):
        load(path)


def test_a_failed_save_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new content is written beside it and renamed at the end."""
    path = tmp_path / "x.npz"
    save(path, W)
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(zipfile.ZipFile, "open", full)
    with pytest.raises(OSError, match="disk full"):
        save(path, W)

    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.npz"]


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files there")
def test_a_full_disk_keeps_no_part_of_the_new_file(tmp_path: Path) -> None:
    """Closing the new file fails again, and it is removed all the same."""
    import resource

    path = tmp_path / "x.npz"
    save(path, W)
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            save(path, W)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.npz"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """A folder; a device, which would become a file."""
    (tmp_path / "w").mkdir()

    with pytest.raises(OSError, match="expected the name of a file"):
        save(tmp_path / "w", {})
    assert [p.name for p in tmp_path.iterdir()] == ["w"]


def _gone() -> int:
    """The number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_a_killed_process_left_behind_is_removed(tmp_path: Path) -> None:
    """What a living one writes, here the parent, is not, nor what has another form or a lock."""
    digits = "0123456789abcdef"
    left = [f"w.npz.{_gone()}.{digits}.part", f"w.npz.{os.getppid()}.{digits}.part"]
    left += [f"w.npz.{_gone()}.1.part", "w.npz.note.part", f"v.npz.{_gone()}.{digits}.part"]
    left += [locked := f"w.npz.{_gone()}.{'a' * 16}.part"]  # a process on another machine has it
    for name in left:
        (tmp_path / name).write_bytes(b"half")

    with (tmp_path / locked).open("rb") as file:
        assert replace._is_locked(file.fileno())
        save(tmp_path / "w.npz", W)

    assert sorted(os.listdir(tmp_path)) == sorted([*left[1:], "w.npz"])


@pytest.mark.parametrize("digits", ["1", "9" * 10, "9" * 20, "9" * 40, "00", "٣"])
@pytest.mark.parametrize("end", ["part", "1.part", "0123456789abcdef.part"])
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_a_stray_part_is_no_harm(tmp_path: Path, digits: str, end: str, kind: str) -> None:
    """Whatever stands in the place of the number of a process; it may be a folder, or a link."""
    stray = tmp_path / f"w.npz.{digits}.{end}"
    (tmp_path / "kept").write_bytes(b"kept")
    make: dict[str, Callable[[], None]] = {"file": stray.touch, "folder": stray.mkdir}
    make.get(kind, lambda: stray.symlink_to("kept"))()
    for _ in range(2):
        save(tmp_path / "w.npz", W)

    assert load(tmp_path / "w.npz").keys() == W.keys()
    assert (tmp_path / "kept").read_bytes() == b"kept"


def test_a_link_in_the_place_of_the_new_file_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where somebody guessed its name, saving fails, and their target is as it was."""
    (tmp_path / "kept").write_bytes(b"kept")
    monkeypatch.setattr(replace, "token_hex", lambda count: "0" * 16)
    (tmp_path / f"w.npz.{os.getpid()}.{'0' * 16}.part").symlink_to("kept")

    with pytest.raises(FileExistsError, match="File exists"):
        save(tmp_path / "w.npz", W)

    assert (tmp_path / "kept").read_bytes() == b"kept"


def test_a_private_file_stays_private(tmp_path: Path) -> None:
    (tmp_path / "w.npz").touch(0o600)
    save(tmp_path / "w.npz", W)

    assert (tmp_path / "w.npz").stat().st_mode & 0o777 == 0o600


def test_threads_that_save_under_one_name_do_not_mix(tmp_path: Path) -> None:
    """The file is always one of theirs, whole."""
    path = tmp_path / "w.npz"
    zeros = {"w": np.zeros(100_000, np.float32)}

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: save(path, zeros), range(20)))

    assert not load(path)["w"].any()
    assert [p.name for p in tmp_path.iterdir()] == ["w.npz"]

"""Variables, stores and their files."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byparts_graph_ir import ArgumentError, FormatError, GraphError, ShapeError, TensorType
from byparts_runtime import Store, Variable


def test_a_variable_has_memory_of_its_own() -> None:
    """What it was made from, what was read and what was written may change later."""
    source = np.ones(2, np.float32)
    v = Variable("v", source)
    source[:] = 5
    read = v.read()
    read[:] = 6

    assert v.read().tolist() == [1, 1]
    assert (v.name, str(v.type)) == ("v", "f32[2]")


def test_a_variable_of_a_type_is_zeros() -> None:
    """Also 0-d and empty ones."""
    assert Variable("v", TensorType("i64", ())).read() == 0
    assert Variable("v", TensorType("bool", (0, 2))).read().shape == (0, 2)


def test_variable_memory_is_aligned() -> None:
    """To 64 bytes at least, whatever the size."""
    v = Variable("v", TensorType("u8", (3,)))

    assert np.frombuffer(v.memory, np.uint8).ctypes.data % 64 == 0


def test_a_variable_needs_a_definite_type() -> None:
    """A Python number has no dtype, and a symbol is no size."""
    with pytest.raises(ShapeError, match=r"variable 'v': 1.5 has no dtype; give an array"):
        Variable("v", 1.5)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match=r"variable 'v': f32\[n\] is not static"):
        Variable("v", TensorType("f32", ("n",)))
    with pytest.raises(ShapeError, match="none of our dtypes"):
        Variable("v", np.zeros(2, np.complex64))


def test_writing_checks_the_type() -> None:
    """Numbers take the variable's dtype if they are of its kind and fit."""
    v = Variable("v", TensorType("u8", ()))
    v.write(255)

    assert v.read() == 255
    with pytest.raises(
        ShapeError, match=r"variable 'v': expected u8\[\], got 256 to 256, which is out"
    ):
        v.write(256)
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got float 1.5"):
        v.write(1.5)
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got i64\[\]; convert it"):
        v.write(np.int64(1))
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got bool True"):
        v.write(True)
    with pytest.raises(ShapeError, match=r"variable 'v': expected u8\[\], got u8\[1\]"):
        v.write([1])
    assert v.read() == 255


def test_a_variable_is_an_array_for_numpy() -> None:
    """A copy, of the dtype asked for; once it was an array of one object."""
    v = Variable("v", np.arange(6, dtype=np.float32).reshape(2, 3))
    seen = np.asarray(v)
    seen[:] = 7

    assert (v.shape, v.dtype, seen.dtype) == ((2, 3), np.dtype("f4"), np.dtype("f4"))
    assert np.asarray(v, dtype=np.int64).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert np.stack([v, v]).sum() == 30
    assert (np.ones((2, 3)) + v).sum() == 21
    assert np.allclose(v, v.read())
    assert v.__array__(np.dtype("f8"), True).dtype == np.float64
    with pytest.raises(ValueError, match="variable 'v' cannot be read without a copy"):
        v.__array__(copy=False)


def test_a_variable_is_taken_where_an_array_is() -> None:
    """Its type counts, as that of an array does."""
    v = Variable("v", np.ones((2, 3), np.float32))
    twin = Variable("twin", v)  # type: ignore[arg-type]  # an array by its methods
    v.write(np.zeros((2, 3), np.float32))

    assert twin.read().sum() == 6
    twin.write(v)
    assert twin.read().sum() == 0
    with pytest.raises(ShapeError, match=r"variable 'd': expected f64\[2,3\], got f32\[2,3\]"):
        Variable("d", TensorType("f64", (2, 3))).write(v)


def test_a_variable_of_one_element_is_a_number() -> None:
    v = Variable("v", np.full((1, 1), 2.5, np.float32))

    assert (float(v), int(v)) == (2.5, 2)
    for ask in (float, int):
        with pytest.raises(ShapeError, match=r"variable 'w' is f32\[2\], no single number; read"):
            ask(Variable("w", TensorType("f32", (2,))))


def test_a_variable_equals_itself_alone() -> None:
    x, y = Variable("x", np.float32(1)), Variable("x", np.float32(1))
    assert x == x and x != y and len({x, y, x}) == 2 and x != "x" and x is not None
    for other in (1.0, 1, np.ones(1), np.float32(1), [1.0]):
        with pytest.raises(
            ArgumentError, match=r"variable 'x': == asks .*; compare variable\.read"
        ):
            assert x == other


def test_names_are_unique() -> None:
    """T13: a second variable of one name is an error, not another handle."""
    store = Store()
    store.create("w", np.zeros(2, np.float32))

    with pytest.raises(GraphError, match=r"variable 'w' exists already, as f32\[2\]"):
        store.create("w", np.zeros(3, np.float32))
    with pytest.raises(GraphError, match="no variable 'v'; there are: w"):
        store["v"]
    assert ("w" in store, "v" in store, len(store)) == (True, False, 1)
    assert [v.name for v in store] == ["w"]


NAMES = ["file", "layer/w", "a.npy", "a", "v.bf16", "ünïcode"]


def test_a_store_comes_back_from_its_file(tmp_path: Path) -> None:
    """Every name and dtype, and numpy.load opens it too."""
    path = tmp_path / "step 7"  # no suffix is added
    one, two = (_store(fill) for fill in (3, 0))
    one.save(path)

    two.load(path)

    assert all((a.read() == b.read()).all() for a, b in zip(one, two, strict=True))
    with np.load(path, allow_pickle=False) as arrays:
        assert arrays["file"].tolist() == [3, 3]
    assert os.listdir(tmp_path) == ["step 7"]


def _store(fill: float) -> Store:
    pytest.importorskip("ml_dtypes")
    store = Store()
    for i, dtype in enumerate(
        ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool")
    ):
        name = NAMES[i] if i < len(NAMES) else dtype
        v = store.create(name, TensorType(dtype, (2,)))
        v.write(np.full(2, fill).astype(v.read().dtype))
    return store


def test_loading_is_all_or_nothing(tmp_path: Path) -> None:
    """A wrong type in the file leaves every variable as it was."""
    path = tmp_path / "x.npz"
    np.savez(path, a=np.ones(2, np.float32), b=np.ones(2, np.float64))
    store = Store()
    a = store.create("a", np.zeros(2, np.float32))
    store.create("b", np.zeros(2, np.float32))

    with pytest.raises(
        ShapeError, match=r"variable 'b' in .*x.npz: expected f32\[2\], got f64\[2\]"
    ):
        store.load(path)
    assert a.read().tolist() == [0, 0]


def test_loading_names_what_does_not_match(tmp_path: Path) -> None:
    """In the file alone, in the store alone; `only` takes some."""
    path = tmp_path / "x.npz"
    np.savez(path, a=np.ones(2, np.float32), c=np.ones(2, np.float32))
    store = Store()
    a = store.create("a", np.zeros(2, np.float32))
    store.create("b", np.zeros(2, np.float32))

    with pytest.raises(GraphError, match="not in the file: 'b'"):
        store.load(path)
    store.load(path, only=["a"])
    assert a.read().tolist() == [1, 1]
    with pytest.raises(GraphError, match="not in the store: 'zz'"):
        store.load(path, only=["zz"])
    with pytest.raises(GraphError, match="not in the store, but in the file: 'c'"):
        _only(store, "a").load(path)


def _only(store: Store, *names: str) -> Store:
    some = Store()
    for name in names:
        some.create(name, store[name].type)
    return some


def test_a_file_never_runs_code(tmp_path: Path) -> None:
    """A pickled array is refused, and so is what is no archive."""
    pickled, text = tmp_path / "pickled.npz", tmp_path / "text"
    np.savez(pickled, a=np.array([_Explodes()], object))
    text.write_text("hello")
    store = Store()
    store.create("a", np.zeros(2, np.float32))

    with pytest.raises(FormatError, match=r"pickled.npz is no .npz of arrays"):
        store.load(pickled)
    with pytest.raises(FormatError, match=r"text is no .npz of arrays"):
        store.load(text)


class _Explodes:
    def __reduce__(self) -> Any:
        return (_explode, ())


def _explode() -> None:
    raise AssertionError("code of the file was run")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    """The archive's checksum finds a changed byte."""
    path = tmp_path / "x.npz"
    store = Store()
    store.create("a", np.arange(100, dtype=np.float32))
    store.save(path)
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(bytes(data))

    with pytest.raises(FormatError, match=r"no .npz of arrays"):
        store.load(path)


def test_a_failed_save_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written beside and moved over at the end."""
    path = tmp_path / "x.npz"
    store = Store()
    store.create("a", np.ones(2, np.float32))
    store.save(path)
    before = path.read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(zipfile.ZipFile, "open", full)
    with pytest.raises(OSError, match="disk full"):
        store.save(path)

    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["x.npz"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    """A folder; a device, which would become a file."""
    (tmp_path / "w").mkdir()

    with pytest.raises(OSError, match="expected the name of a file"):
        Store().save(tmp_path / "w")
    assert [p.name for p in tmp_path.iterdir()] == ["w"]


def test_what_a_killed_process_left_behind_is_removed(tmp_path: Path) -> None:
    """And what a living one writes is not: here the parent's."""
    store, path = Store(), tmp_path / "w.npz"
    store.create("w", np.zeros(3, np.float32))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left = [f"w.npz.{gone.pid}.1.part", f"w.npz.{os.getppid()}.1.part", "w.npz.note.part", "v.npz"]
    for name in left:
        (tmp_path / name).write_bytes(b"half")

    store.save(path)

    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*left[1:], "w.npz"])


def test_threads_that_save_under_one_name_do_not_mix(tmp_path: Path) -> None:
    """The file is always one of theirs, whole."""
    store, path = Store(), tmp_path / "w.npz"
    store.create("w", np.zeros(100_000, np.float32))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: store.save(path), range(20)))

    store.load(path)
    assert [p.name for p in tmp_path.iterdir()] == ["w.npz"]

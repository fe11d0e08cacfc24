"""Weights as .safetensors, written and read by their library."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from damaged import read_all

from byparts_graph_ir import FormatError, GraphError, TensorType
from byparts_runtime import Store
from byparts_runtime.arrays import carrier

safetensors = pytest.importorskip("safetensors", reason="needs the library safetensors")
DTYPES = ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool")
SHAPES = ((), (0, 3), (2, 1, 3))


def stored(fill: int) -> Store:
    """A variable of each dtype and shape."""
    store = Store()
    for dtype in DTYPES:
        for shape in SHAPES:
            made = store.create(f"{dtype}/{len(shape)}", TensorType(dtype, shape))
            made.write(np.full(shape, fill).astype(made.dtype))
    return store


def raw(path: Path, header: str, data: bytes = b"") -> Path:
    """A file with this header."""
    text = header.encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tensor(dtype: str, shape: list[int], start: int, end: int) -> dict[str, object]:
    """What a header says of one."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def test_a_store_comes_back_from_its_file(tmp_path: Path) -> None:
    """Also numbers without axes, arrays without elements, bools and bf16."""
    pytest.importorskip("ml_dtypes")
    one, two = stored(1), stored(0)

    one.save(tmp_path / "w.safetensors")
    two.load(tmp_path / "w.safetensors")

    assert [v.read().tolist() for v in two] == [v.read().tolist() for v in one]
    assert os.listdir(tmp_path) == ["w.safetensors"]


def test_others_read_what_is_saved(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    stored(1).save(tmp_path / "w.safetensors")

    found = load_file(tmp_path / "w.safetensors")
    assert found["f32/3"].tolist() == np.ones((2, 1, 3)).tolist()
    assert found["bool/0"].shape == ()


def test_what_others_save_is_read(tmp_path: Path) -> None:
    """With metadata, which belong to no variable."""
    from safetensors.numpy import save_file

    save_file({"w": np.arange(3.0)}, tmp_path / "w.safetensors", metadata={"made by": "others"})
    store = Store()
    w = store.create("w", np.zeros(3))

    store.load(tmp_path / "w.safetensors")
    assert w.read().tolist() == [0, 1, 2]


def test_bf16_without_ml_dtypes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bytes each, as everywhere."""
    header = json.dumps({"w": tensor("BF16", [2], 0, 4)})
    path = raw(tmp_path / "w.safetensors", header, b"\x80\x3f\0\x40")
    carrier.cache_clear()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    monkeypatch.setattr("byparts_runtime.arrays.numpy_dtype", _without_bf16)
    try:
        found = read_all(path)["w"]
    finally:
        carrier.cache_clear()
    assert found.dtype == np.dtype("V2")
    assert found.tobytes() == b"\x80\x3f\0\x40"


def _without_bf16(name: str) -> object:
    raise ImportError(name)


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        ("{", b"", "invalid JSON in header"),
        (json.dumps({"w": tensor("F32", [2], 0, 8)}), b"1234", "not fully covered"),
        (json.dumps({"w": tensor("F32", [10**12], 0, 8)}), b"12345678", "invalid shape"),
        (json.dumps({"w": tensor("F8_E4M3", [2], 0, 2)}), b"12", "'w' is F8_E4M3; expected one of"),
        (json.dumps({"w": tensor("U8", [0, 1 << 63], 0, 0)}), b"", "'w': no array has the shape"),
        (json.dumps({"w": tensor("BOOL", [2], 0, 2)}), b"\0\2", "in 'w' a bool is the byte 2"),
        ('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
         '"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}', b"12", "a second 'w'"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused(tmp_path: Path, header: str, data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=rf"w.safetensors is .*{message}"):
        read_all(raw(tmp_path / "w.safetensors", header, data))


def test_every_end_that_is_too_early_is_found(tmp_path: Path) -> None:
    store, path = Store(), tmp_path / "w.safetensors"
    store.create("w", np.ones(3))
    store.save(path)
    whole = path.read_bytes()

    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"w.safetensors is no .safetensors of arrays: "):
            read_all(path)


def test_a_name_that_the_format_has_taken(tmp_path: Path) -> None:
    """The library writes a file that nobody can read."""
    store = Store()
    store.create("__metadata__", np.zeros(2))

    with pytest.raises(GraphError, match=r"can be called '__metadata__'; save as .npz"):
        store.save(tmp_path / "w.safetensors")
    store.save(tmp_path / "w.npz")
    assert os.listdir(tmp_path) == ["w.npz"]


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
@pytest.mark.parametrize("name", ["a\0b", "\ud800"])
def test_a_name_that_no_file_has(tmp_path: Path, suffix: str, name: str) -> None:
    """`zipfile` cuts it at the zero, so that it came back as another."""
    store = Store()
    store.create(name, np.zeros(2))

    with pytest.raises(GraphError, match="cannot be saved: its name is not a text of a file"):
        store.save(tmp_path / f"w.{suffix}")


def test_a_missing_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, path = Store(), tmp_path / "w.safetensors"
    store.create("w", np.zeros(2))
    store.save(path)
    monkeypatch.setitem(sys.modules, "safetensors", None)

    for use in (store.save, store.load):
        with pytest.raises(ImportError, match=r"pip install 'byparts-runtime\[safetensors\]'"):
            use(path)


def test_a_missing_file_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.safetensors"):
        Store().load(tmp_path / "nowhere.safetensors")
    (tmp_path / "x.safetensors").mkdir()
    with pytest.raises(OSError, match=r"(?i)is a directory|denied"):
        Store().load(tmp_path / "x.safetensors")

"""Weights as .safetensors, written and read by their library."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from byparts_graph_ir import FormatError, GraphError
from byparts_weights import load, save
from byparts_weights.dtypes import Array, numpy_dtype

safetensors = pytest.importorskip("safetensors", reason="needs the library safetensors")
DTYPES = ("f16", "bf16", "f32", "f64", "i8", "i16", "i32", "i64", "u8", "bool")
SHAPES = ((), (0, 3), (2, 1, 3))


def ones() -> dict[str, Array]:
    """An array of each dtype and shape."""
    return {
        f"{dtype}/{len(shape)}": np.ones(shape).astype(numpy_dtype(dtype))
        for dtype in DTYPES
        for shape in SHAPES
    }


def raw(path: Path, header: str, data: bytes = b"") -> Path:
    """A file with this header."""
    text = header.encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def tensor(dtype: str, shape: list[int], start: int, end: int) -> dict[str, object]:
    """What a header says of one."""
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def test_arrays_come_back_from_their_file(tmp_path: Path) -> None:
    """Also numbers without axes, arrays without elements, bools and bf16."""
    pytest.importorskip("ml_dtypes")

    save(tmp_path / "w.safetensors", ones())
    again = load(tmp_path / "w.safetensors")

    assert {n: (a.dtype, a.tolist()) for n, a in again.items()} == {
        n: (a.dtype, a.tolist()) for n, a in ones().items()
    }
    assert os.listdir(tmp_path) == ["w.safetensors"]


def test_others_read_what_is_saved(tmp_path: Path) -> None:
    from safetensors.numpy import load_file

    pytest.importorskip("ml_dtypes")
    save(tmp_path / "w.safetensors", ones())

    theirs = load_file(tmp_path / "w.safetensors")
    assert theirs["f32/3"].tolist() == np.ones((2, 1, 3)).tolist()
    assert theirs["bool/0"].shape == ()


def test_what_others_save_is_read(tmp_path: Path) -> None:
    """With metadata, which belong to no array."""
    from safetensors.numpy import save_file

    save_file({"w": np.arange(3.0)}, tmp_path / "w.safetensors", metadata={"made by": "others"})

    assert {n: a.tolist() for n, a in load(tmp_path / "w.safetensors").items()} == {"w": [0, 1, 2]}


def test_bf16_without_ml_dtypes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two bytes each, as everywhere."""
    header = json.dumps({"w": tensor("BF16", [2], 0, 4)})
    path = raw(tmp_path / "w.safetensors", header, b"\x80\x3f\0\x40")
    numpy_dtype.cache_clear()
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    try:
        array = load(path)["w"]
    finally:
        numpy_dtype.cache_clear()
    assert array.dtype == np.dtype("V2")
    assert array.tobytes() == b"\x80\x3f\0\x40"


def test_four_bits_are_refused(tmp_path: Path) -> None:
    """The format has no such dtype, and nothing is written."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    arrays = {"w": np.zeros((2, 3), ml_dtypes.int4)}

    with pytest.raises(GraphError, match=r"array 'w' is i4\[2,3\], a dtype .* save as .npz"):
        save(tmp_path / "w.safetensors", arrays)
    assert not list(tmp_path.iterdir())


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
        load(raw(tmp_path / "w.safetensors", header, data))


def test_every_end_that_is_too_early_is_found(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    save(path, {"w": np.ones(3)})
    whole = path.read_bytes()

    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"w.safetensors is no .safetensors of arrays: "):
            load(path)


def test_a_name_that_the_format_has_taken(tmp_path: Path) -> None:
    """The library writes a file that nobody can read."""
    arrays = {"__metadata__": np.zeros(2)}

    with pytest.raises(GraphError, match=r"can be called '__metadata__'; save as .npz"):
        save(tmp_path / "w.safetensors", arrays)
    save(tmp_path / "w.npz", arrays)
    assert os.listdir(tmp_path) == ["w.npz"]


def test_a_missing_library_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.safetensors"
    save(path, {"w": np.zeros(2)})
    monkeypatch.setitem(sys.modules, "safetensors", None)

    for use in (load, lambda path: save(path, {"w": np.zeros(2)})):
        with pytest.raises(ImportError, match=r"pip install 'byparts-weights\[safetensors\]'"):
            use(path)


def test_a_missing_file_is_an_oserror(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.safetensors"):
        load(tmp_path / "nowhere.safetensors")
    (tmp_path / "x.safetensors").mkdir()
    with pytest.raises(OSError, match=r"(?i)is a directory|denied"):
        load(tmp_path / "x.safetensors")

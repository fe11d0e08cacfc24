"""A folder of pictures, a folder for each class."""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from byparts_graph_ir import FormatError
from byparts_graph_ir.errors import PartError
from byparts_nn.data import Data, ImageFolder


def png(pixels: NDArray[np.uint8]) -> bytes:
    """A PNG of grey pixels, uint8 [height, width]."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        sum_ = struct.pack(">I", zlib.crc32(kind + content))
        return struct.pack(">I", len(content)) + kind + content + sum_

    head = struct.pack(">2I5B", pixels.shape[1], pixels.shape[0], 8, 0, 0, 0, 0)
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + data


def folder(tmp_path: Path) -> Path:
    for name, value in (("dog", 255), ("cat", 51)):
        (tmp_path / name).mkdir()
        for i in range(2):
            pixels = np.full((2, 3), value, np.uint8)
            (tmp_path / name / f"{i}.png").write_bytes(png(pixels))
    (tmp_path / "cat" / "notes.txt").write_text("no picture")
    return tmp_path


def test_classes_are_folders(tmp_path: Path) -> None:
    """Pictures are f32 from 0 to 1, channels first; classes are in the order of their names."""
    pytest.importorskip("byparts_tf_files")
    images = ImageFolder(folder(tmp_path), channels=1)
    ((x, t),) = Data(images).batch(4).epoch(0)
    colours, _ = ImageFolder(tmp_path)[0]

    assert images.classes == ["cat", "dog"] and t.tolist() == [0, 0, 1, 1]
    assert x.shape == (4, 1, 2, 3) and x.dtype == np.float32
    assert np.unique(x).tolist() == [np.float32(0.2), 1.0]
    assert colours.shape == (3, 2, 3)


def test_damage_and_emptiness_are_named(tmp_path: Path) -> None:
    """The error has the path of the picture, or of the folder."""
    pytest.importorskip("byparts_tf_files")
    with pytest.raises(FormatError, match=r"has 0 folders, and in them no \.png"):
        ImageFolder(tmp_path)
    path = folder(tmp_path) / "cat" / "0.png"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(FormatError, match=r"cat.0\.png: "):
        ImageFolder(tmp_path)[0]


def test_a_library_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "byparts_tf_files.pictures", None)

    with pytest.raises(PartError, match="pip install byparts-tf-files"):
        ImageFolder(folder(tmp_path))[0]

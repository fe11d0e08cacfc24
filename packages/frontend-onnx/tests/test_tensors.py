"""Tensors in files beside a model: read where they are in its folder, and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from models import model, node, results
from onnx import ModelProto, TensorProto

from byparts_frontend_onnx import UnsupportedOp, from_onnx
from byparts_graph_ir import FormatError

W = np.arange(60, dtype=np.float32)


def with_data_in(location: str, length: str = "", offset: str = "0") -> ModelProto:
    """A model whose weight lies in a file."""
    source = model([node("Add", ["x", "w"], ["y"])], {"x": [60]}, ["y"], {"w": W})
    tensor = source.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=value)
    return source


def write(folder: Path, source: ModelProto, name: str = "m.onnx") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(source.SerializeToString())
    return folder / name


def test_data_beside_the_model(tmp_path: Path) -> None:
    path = write(tmp_path, with_data_in("data/w.bin", offset="8"))
    (tmp_path / "data").mkdir()
    (tmp_path / "data/w.bin").write_bytes(bytes(8) + W.tobytes())

    np.testing.assert_array_equal(results(from_onnx(path), x=W)[0], 2 * W)
    with pytest.raises(FormatError, match="give from_onnx the path of the model"):
        from_onnx(path.read_bytes())


def test_links_as_the_cache_of_hugging_face_has_them(tmp_path: Path) -> None:
    """Model and data are links into another folder, which is the model's real one."""
    real = write(tmp_path / "blobs", with_data_in("m.onnx_data"), "b1")
    (tmp_path / "blobs/b2").write_bytes(W.tobytes())
    (tmp_path / "snapshot").mkdir()
    os.symlink(real, tmp_path / "snapshot/m.onnx")
    os.symlink("../blobs/b2", tmp_path / "snapshot/m.onnx_data")

    np.testing.assert_array_equal(results(from_onnx(tmp_path / "snapshot/m.onnx"), x=W)[0], 2 * W)


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("../secret", "is no path inside the model's folder"),
        ("/etc/hostname", "is no path inside the model's folder"),
        ("c:\\secret", "is no path inside the model's folder|there is no file"),
        ("", "is no path inside the model's folder"),
        ("link", "is a link out of the model's folder"),
        ("folder/secret", "is a link out of the model's folder"),
        ("gone", "there is no file 'gone'"),
        (".", "there is no file"),
    ],
)
def test_files_elsewhere_are_refused(tmp_path: Path, location: str, why: str) -> None:
    (tmp_path / "secret").write_bytes(W.tobytes())
    path = write(tmp_path / "model", with_data_in(location))
    os.symlink("../secret", tmp_path / "model/link")
    os.symlink("..", tmp_path / "model/folder")

    with pytest.raises(FormatError, match=why):
        from_onnx(path)


@pytest.mark.parametrize("more", [{"length": "99999999999"}, {"offset": "-4"}, {"offset": "8"}])
def test_no_more_is_read_than_the_shape_says(tmp_path: Path, more: dict[str, str]) -> None:
    path = write(tmp_path, with_data_in("w", **more))
    (tmp_path / "w").write_bytes(W.tobytes())

    with pytest.raises(FormatError, match="tensor 'w' needs 240 bytes from"):
        from_onnx(path)


def test_a_shape_without_its_bytes_is_refused() -> None:
    source = model([node("Add", ["x", "w"], ["y"])], {"x": [60]}, ["y"], {"w": W})
    source.graph.initializer[0].dims[0] = 1 << 60
    with pytest.raises(FormatError, match="tensor 'w' has the shape"):
        from_onnx(source)
    source.graph.initializer[0].dims[0] = 61
    with pytest.raises(FormatError, match="tensor 'w' cannot be read"):
        from_onnx(source)


def test_a_dtype_that_byparts_has_not_is_named() -> None:
    source = model([node("Neg", ["x"], ["y"])], {"x": (TensorProto.COMPLEX64, [2])}, ["y"])
    with pytest.raises(UnsupportedOp, match="elements of type COMPLEX64, which byparts has not"):
        from_onnx(source)

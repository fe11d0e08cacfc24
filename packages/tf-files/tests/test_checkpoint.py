"""Checkpoints that TensorFlow wrote, of both formats, whole and in several files."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.checkpoint_reader import (
    list_variables,
    load_checkpoint,
    load_variable,
    new_checkpoint_reader,
)
from byparts_tf_files.errors import DataLossError, NotFoundError
from byparts_tf_files.messages.tensor import TensorSliceProto
from byparts_tf_files.slices import key_of

RECORDED = Path(__file__).parent / "recorded"
NAMES = ["v1", "v1s", "v2", "v2s"]
TEXTS = [b"", b"abc", b"\0\xff" * 70, "é".encode()]


@pytest.mark.parametrize("name", NAMES)
def test_every_tensor_is_what_tensorflow_has(name: str) -> None:
    """All dtypes, an empty one, a scalar, and two that were saved in parts."""
    found = read_checkpoint(RECORDED / f"{name}.ckpt-7")
    with np.load(RECORDED / f"{name}.npz") as file:
        expected = {key.replace("|", "/"): file[key] for key in file.files}

    assert set(found) == {*expected, "texts"} and len(found) == len(expected) + 1
    for key, value in expected.items():
        array = found[key]
        assert found.dims(key) == array.shape == value.shape
        assert np.dtype(found.dtype(key).as_numpy_dtype) == array.dtype
        assert array.dtype == value.dtype or array.dtype.name == "bfloat16"
        np.testing.assert_array_equal(array.astype(value.dtype), value)
    assert found["texts"].tolist() == TEXTS and found.dtype("texts").name == "string"


def test_the_reader_of_tensorflow() -> None:
    reader = new_checkpoint_reader(str(RECORDED / "v2.ckpt-7"))

    assert reader.get_variable_to_shape_map()["in_rows"] == [7, 4]
    assert reader.get_variable_to_dtype_map()["in_columns"].name == "int32"
    assert reader.has_tensor("scalar") and not reader.has_tensor("none")
    assert reader.get_tensor(b"scalar") == 2.5
    assert b"in_columns (DT_INT32) [3, 5]" in reader.debug_string().splitlines()
    with pytest.raises(NotFoundError, match="Key none not found in checkpoint"):
        reader.get_tensor("none")
    with pytest.raises(KeyError):
        read_checkpoint(RECORDED / "v1.ckpt-7")["none"]


def test_variables_of_the_last_checkpoint_of_a_folder(tmp_path: Path) -> None:
    """The folder's state file names it."""
    assert ("kinds/float32", [2, 3]) in list_variables(RECORDED)
    assert load_variable(RECORDED, "scalar:0") == load_checkpoint(RECORDED).get_tensor("scalar")
    with pytest.raises(ValueError, match="Couldn't find 'checkpoint' file"):
        load_checkpoint(tmp_path)
    with pytest.raises(NotFoundError, match=r"Failed to find any matching files for .*none"):
        load_checkpoint(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("v1", "v1.ckpt-7"),
        ("v1s", "v1s.ckpt-7-00001-of-00003"),
        ("v2", "v2.ckpt-7.index"),
        ("v2", "v2.ckpt-7.data-00000-of-00001"),
        ("v2s", "v2s.ckpt-7.data-00002-of-00003"),
    ],
)
def test_every_flipped_byte_is_found(tmp_path: Path, name: str, file: str) -> None:
    """Or it is one that no tensor has: never is a number another one."""
    for path in RECORDED.glob(f"{name}.ckpt-7*"):
        shutil.copy(path, tmp_path / path.name)
    right = {k: v.tolist() for k, v in read_checkpoint(RECORDED / f"{name}.ckpt-7").items()}
    data = (tmp_path / file).read_bytes()
    found = 0
    for at in range(0, len(data), 7):
        (tmp_path / file).write_bytes(data[:at] + bytes([data[at] ^ 0x11]) + data[at + 1 :])
        try:
            read = {k: v.tolist() for k, v in read_checkpoint(tmp_path / f"{name}.ckpt-7").items()}
        except DataLossError:
            found += 1
        else:
            assert read == right
    assert found > len(data) // 7 * 0.8


def test_a_data_file_that_is_cut_off_or_missing(tmp_path: Path) -> None:
    for path in RECORDED.glob("v2.ckpt-7*"):
        shutil.copy(path, tmp_path / path.name)
    data = tmp_path / "v2.ckpt-7.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:-1])
    checkpoint = read_checkpoint(tmp_path / "v2.ckpt-7")
    with pytest.raises(DataLossError, match=r"texts: bytes \[\d+, \d+\) of .*, which has"):
        checkpoint["texts"]
    data.unlink()
    with pytest.raises(NotFoundError, match="data-00000-of-00001; No such file"):
        checkpoint["scalar"]


def test_the_key_of_a_part() -> None:
    """Numbers of 1, 2 and 10 bytes, with as many ones in front, all turned in negative ones."""
    part = TensorSliceProto(extent=[{"start": 1, "length": 64}, {}, {"start": -(1 << 62) - 1}])

    assert key_of("a\0", part).hex() == "00" + "61" + "00ff" + "0001" + "0103" + (
        "81" + "c040" + "80" + "7f" + "003fbfffffffffffffff" + "7f"
    )

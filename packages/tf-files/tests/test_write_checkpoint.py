"""Our checkpoints: TensorFlow's index, a .safetensors with the tensors, whole whatever happens."""

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from byparts_tf_files import write_checkpoint as writer
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.errors import DataLossError, FailedPreconditionError
from byparts_tf_files.write_checkpoint import remove_checkpoint, write_checkpoint

RECORDED = Path(__file__).parent / "recorded"
KINDS = "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128"
_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda s: s[0] != "\0"
)


def _arrays() -> st.SearchStrategy[Any]:
    shapes = hnp.array_shapes(min_dims=0, min_side=0, max_side=4)
    numbers = st.sampled_from(KINDS.split()).flatmap(lambda kind: hnp.arrays(kind, shapes))
    texts = st.lists(st.binary()).map(lambda t: np.array([*t, None], object)[:-1])
    return st.one_of(numbers, texts)


@given(tensors=st.dictionaries(_names, _arrays(), max_size=5))
def test_tensors_are_read_as_they_were_written(
    tensors: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("checkpoint") / "m.ckpt-3"

    found = read_checkpoint(write_checkpoint(path, tensors))

    assert set(found) == set(tensors)
    for name, array in tensors.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype and found.dims(name) == array.shape


def test_the_tensors_of_tensorflow_go_through(tmp_path: Path) -> None:
    """Also bfloat16, complex numbers and texts."""
    expected = read_checkpoint(RECORDED / "v2.ckpt-7")
    found = read_checkpoint(write_checkpoint(tmp_path / "m", expected))

    for name in expected:
        assert found.dtype(name) is expected.dtype(name)
        np.testing.assert_array_equal(found[name], expected[name])


def test_the_data_file_is_a_safetensors(tmp_path: Path) -> None:
    """Which others read; what that format has not stands in it as bytes."""
    numpy = pytest.importorskip("safetensors.numpy")
    expected: dict[str, Any] = {
        "w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "n": np.array(3, np.int64),
    }
    others: dict[str, Any] = {"z": np.array([1j]), "t": np.array([b"a"], object)}
    path = write_checkpoint(tmp_path / "m", {**expected, **others})
    found = numpy.load_file(shutil.copy(f"{path}.data-00000-of-00001", tmp_path / "m.safetensors"))

    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array)
    np.testing.assert_array_equal(found["z"].view(np.complex128), [1j])
    assert found["t"].dtype == np.uint8


def test_files_have_the_names_of_tensorflow(tmp_path: Path) -> None:
    """In a folder that is made; nothing else is left."""
    write_checkpoint(tmp_path / "new" / "m.ckpt-3", {"w": np.ones(2)}, b"graph")

    assert sorted(os.listdir(tmp_path / "new")) == [
        "m.ckpt-3.data-00000-of-00001",
        "m.ckpt-3.index",
        "m.ckpt-3.meta",
    ]
    assert (tmp_path / "new" / "m.ckpt-3.meta").read_bytes() == b"graph"
    write_checkpoint(tmp_path / "new" / "m.ckpt-3", {"w": np.zeros(2)})
    assert len(os.listdir(tmp_path / "new")) == 3
    remove_checkpoint(tmp_path / "new" / "m.ckpt-3")
    assert os.listdir(tmp_path / "new") == []
    remove_checkpoint(tmp_path / "new" / "m.ckpt-3")


@pytest.mark.parametrize("steps", range(8))
def test_one_checkpoint_is_whole_whenever_the_process_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """The writing ends in front of a change of the folder; what is read is all old or all new."""
    old, new = ({"w": np.full(9, k), "same": np.ones(3)} for k in (1, 2))
    write_checkpoint(tmp_path / "m", old)
    left, os_remove = [steps], os.remove

    def counted(change: Any) -> Any:
        def changed(*args: Any) -> None:
            if change is not os_remove or not args[0].endswith(".part"):
                if not left[0]:
                    raise SystemExit
                left[0] -= 1
            change(*args)

        return changed

    for name in ("replace", "remove"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    ended = False
    try:
        write_checkpoint(tmp_path / "m", new)
    except SystemExit:
        ended = True
    monkeypatch.undo()
    found = read_checkpoint(tmp_path / "m")

    assert ended == (steps < 4)
    assert found["same"].tolist() == [1] * 3
    assert found["w"].tolist() == [1 if steps < 3 else 2] * 9
    again = read_checkpoint(write_checkpoint(tmp_path / "m", {"w": np.full(9, 3)}))
    assert again["w"].tolist() == [3] * 9
    assert not list(tmp_path.glob("*.old"))


def test_after_a_process_was_killed_the_older_checkpoint_is_kept_until_the_new_one_stands(
    tmp_path: Path,
) -> None:
    """Killed with new data under an old index; the next writing fails, and the old one is read."""
    write_checkpoint(tmp_path / "m", {"w": np.array([1.0])})
    data = tmp_path / "m.data-00000-of-00001"
    shutil.copy(data, f"{data}.old")
    write_checkpoint(tmp_path / "other", {"w": np.array([2.0])})
    shutil.copy(tmp_path / "other.data-00000-of-00001", data)
    assert read_checkpoint(tmp_path / "m")["w"] == 1

    writer._settle(str(tmp_path / "m"))

    assert read_checkpoint(tmp_path / "m")["w"] == 1 and not list(tmp_path.glob("*.old"))


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "m", {"w": np.ones(1)})
    with pytest.raises(ValueError, match="no tensor can be called ''"):
        write_checkpoint(tmp_path / "m", {"": np.ones(1)})
    with pytest.raises(TypeError, match="Cannot convert value"):
        write_checkpoint(tmp_path / "m", {"w": np.zeros(1, "datetime64[s]")})
    (tmp_path / "folder.index").mkdir()
    with pytest.raises(FailedPreconditionError, match="Is a directory"):
        write_checkpoint(tmp_path / "folder", {"w": np.ones(1)})

    assert read_checkpoint(tmp_path / "m")["w"] == 1
    assert not list(tmp_path.glob("*.part"))


def test_a_checksum_that_differs_is_named(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "m", {"w": np.ones(4)})
    data = Path(f"{path}.data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-1] + b"\0")

    with pytest.raises(
        DataLossError, match=r"w: checksum [0-9a-f]{8} at byte \d+ of .*; the index has"
    ):
        read_checkpoint(path)["w"]

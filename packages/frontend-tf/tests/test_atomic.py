"""Files are replaced as a whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from byparts_frontend_tf.files.atomic import beside, part_of, replace_file
from byparts_frontend_tf.running.errors import FailedPreconditionError, NotFoundError


def test_a_file_is_as_it_was_until_the_new_content_is_complete(tmp_path: Path) -> None:
    path = str(tmp_path / "f")
    replace_file(path, b"old")

    def fail() -> None:
        with beside(path) as file:
            file.write(b"new")
            raise KeyError("key")

    with pytest.raises(KeyError, match="key"):
        fail()

    assert os.listdir(tmp_path) == ["f"] and Path(path).read_bytes() == b"old"
    replace_file(path, b"new")
    assert os.listdir(tmp_path) == ["f"] and Path(path).read_bytes() == b"new"


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """A folder that there is not; a folder in the place of the file."""
    with pytest.raises(NotFoundError, match="No such file"):
        replace_file(str(tmp_path / "none" / "f"), b"")
    (tmp_path / "d").mkdir()
    with pytest.raises(FailedPreconditionError, match="Is a directory"):
        replace_file(str(tmp_path / "d"), b"")

    assert os.listdir(tmp_path) == ["d"]


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    """What living ones are writing is not."""
    path = str(tmp_path / "f")
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True
    )
    left, lives = f"{path}.{int(gone.stdout)}.1.part", f"{path}.{os.getpid()}.1.part"
    for name in (left, lives):
        Path(name).write_bytes(b"half")
    replace_file(path, b"new")

    assert sorted(os.listdir(tmp_path)) == sorted(["f", Path(lives).name])
    assert part_of(path).startswith(f"{path}.{os.getpid()}.")

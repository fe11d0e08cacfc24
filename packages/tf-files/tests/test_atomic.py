"""Files are replaced as a whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from byparts_tf_files import atomic
from byparts_tf_files.atomic import beside, replace_file
from byparts_tf_files.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    NotFoundError,
    OpError,
)


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


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of files there")
def test_a_full_disk_keeps_no_part_of_the_new_file(tmp_path: Path) -> None:
    """Closing the new file fails again, and it is removed all the same."""
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        with pytest.raises((OSError, OpError), match="File too large"):
            replace_file(str(tmp_path / "f"), bytes(1000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert os.listdir(tmp_path) == []


def test_what_cannot_be_written(tmp_path: Path) -> None:
    """A folder that there is not; a folder in the place of the file."""
    with pytest.raises(NotFoundError, match="No such file"):
        replace_file(str(tmp_path / "none" / "f"), b"")
    (tmp_path / "d").mkdir()
    with pytest.raises(FailedPreconditionError, match="Is a directory"):
        replace_file(str(tmp_path / "d"), b"")

    assert os.listdir(tmp_path) == ["d"]


def _gone() -> int:
    """The number of a process that is no more."""
    command = [sys.executable, "-c", "import os; print(os.getpid())"]
    return int(subprocess.run(command, capture_output=True, check=True).stdout)


def test_what_killed_processes_left_is_removed(tmp_path: Path) -> None:
    """What living ones are writing, and what is locked or has another form, is not."""
    digits = "0123456789abcdef"
    left, lives = f"f.{_gone()}.{digits}.part", f"f.{os.getpid()}.{digits}.part"
    others = [lives, f"f.{_gone()}.1.part", f"f.{'9' * 30}.{digits}.part", "f.note.part", "g"]
    for name in (left, *others):
        (tmp_path / name).write_bytes(b"half")
    (locked := tmp_path / f"f.{_gone()}.{'a' * 16}.part").write_bytes(b"half")
    with locked.open("rb") as file:  # as a process on another machine has it
        assert atomic._is_locked(file.fileno())
        replace_file(str(tmp_path / "f"), b"new")

    assert sorted(os.listdir(tmp_path)) == sorted(["f", locked.name, *others])


def test_a_stray_folder_or_link_is_no_harm(tmp_path: Path) -> None:
    """Both have the form of what a killed process leaves behind."""
    (tmp_path / "kept").write_bytes(b"kept")
    os.mkdir(tmp_path / f"f.{_gone()}.{'0' * 16}.part")
    os.symlink(tmp_path / "kept", tmp_path / f"f.{_gone()}.{'1' * 16}.part")
    replace_file(str(tmp_path / "f"), b"new")

    assert (tmp_path / "kept").read_bytes() == b"kept" and (tmp_path / "f").read_bytes() == b"new"


def test_a_name_that_is_taken_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the random digits were guessed, and a link waits there."""
    (tmp_path / "kept").write_bytes(b"kept")
    monkeypatch.setattr(atomic, "token_hex", lambda count: "0" * 16)
    os.symlink(tmp_path / "kept", tmp_path / f"f.{os.getpid()}.{'0' * 16}.part")

    with pytest.raises(AlreadyExistsError, match="File exists"):
        replace_file(str(tmp_path / "f"), b"new")

    assert (tmp_path / "kept").read_bytes() == b"kept"


def test_a_private_file_stays_private(tmp_path: Path) -> None:
    (tmp_path / "f").touch(0o600)
    replace_file(str(tmp_path / "f"), b"new")

    assert os.stat(tmp_path / "f").st_mode & 0o777 == 0o600

"""Folders and files that are loaded as code are this user's alone; leftovers are removed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from byparts_tensor_ir import private
from byparts_tensor_ir.private import (
    UNFINISHED,
    check_private,
    is_private,
    private_content,
    working_folder,
)


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o722, 0o777])
def test_a_folder_that_others_may_write_is_named(tmp_path: Path, mode: int) -> None:
    tmp_path.chmod(mode)

    with pytest.raises(PermissionError, match=r"others may write .*\(chmod go-w\)"):
        check_private(tmp_path)


def test_a_folder_that_others_may_rename_is_named(tmp_path: Path) -> None:
    """They may write the folder that it is in; with the sticky bit, as /tmp has it, they cannot."""
    (inner := tmp_path / "open" / "inner").mkdir(mode=0o700, parents=True)
    inner.parent.chmod(0o777)
    with pytest.raises(PermissionError, match=r"others may rename .*: they may write .*/open"):
        check_private(inner)

    inner.parent.chmod(0o1777)
    check_private(inner)


def test_a_folder_of_another_user_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)

    with pytest.raises(PermissionError, match="belongs to another user"):
        check_private(tmp_path)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.so", 0o600)

    assert not is_private(tmp_path / "x.so")
    with pytest.raises(PermissionError, match="is not this user's alone"):
        private_content(tmp_path / "x.so")


def test_what_is_being_made_stands_in_a_private_folder(tmp_path: Path) -> None:
    """Of a new name, which is gone at the end."""
    with working_folder(tmp_path) as one, working_folder(tmp_path) as two:
        assert one != two and one.stat().st_mode & 0o777 == 0o700
        assert one.parent == two.parent == tmp_path / UNFINISHED

    assert os.listdir(tmp_path / UNFINISHED) == []


def _gone() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_killed_builds_left_is_removed(tmp_path: Path) -> None:
    """Not what living processes make, and not what has another form."""
    gone = _gone()
    folder = tmp_path / UNFINISHED
    folder.mkdir()
    left = [
        f"byparts-{gone}-abcdefgh",
        f"byparts-{gone}-locked_0",
        f"byparts-{os.getpid()}-abcdefgh",
    ]
    left += [f"byparts-{gone}-a", f"byparts-{'9' * 30}-abcdefgh", "tmpabcdefgh"]
    for name in left:
        (folder / name).mkdir()
        (folder / name / "made.gch").write_bytes(b"half")
    (folder / (link := f"byparts-{gone}-12345678")).symlink_to(left[-1])
    lock = private._locked(folder / left[1])  # as a process on another machine holds it
    with working_folder(tmp_path):
        pass
    os.close(lock)

    assert sorted(os.listdir(folder)) == sorted([*left[1:], link])


def test_a_build_that_is_killed_leaves_nothing_for_long(tmp_path: Path) -> None:
    """The next one removes its folder."""
    program = f"""
import os, pathlib, signal
from byparts_tensor_ir.private import working_folder
with working_folder(pathlib.Path({str(tmp_path)!r})) as work:
    (work / "made.gch").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", program], check=False)
    (left,) = os.listdir(tmp_path / UNFINISHED)
    with working_folder(tmp_path):
        pass

    assert left.startswith("byparts-") and os.listdir(tmp_path / UNFINISHED) == []

"""Folders and files that are loaded as code are this user's alone; leftovers are removed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from byparts_tensor_ir.private import check_private, is_private, private_content, working_folder


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

    assert os.listdir(tmp_path) == []


def _gone() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_killed_builds_left_is_removed(tmp_path: Path) -> None:
    """An hour later; not what living processes make, what is new, and what has another form."""
    gone = _gone()
    left = [f"byparts-{gone}-abcdefgh", f"byparts-{os.getpid()}-abcdefgh", f"byparts-{gone}-a"]
    left += [f"byparts-{'9' * 30}-abcdefgh", "tmpabcdefgh", f"byparts-{'9' * 10}-abcdefgh.so"]
    for name in left:
        (tmp_path / name).mkdir()
        (tmp_path / name / "made.gch").write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - 3600,) * 2)
    (tmp_path / (new := f"byparts-{gone}-ijklmnop")).mkdir()
    (tmp_path / (link := f"byparts-{gone}-12345678")).symlink_to(left[-1])
    with working_folder(tmp_path):
        pass

    assert sorted(os.listdir(tmp_path)) == sorted([*left[1:], new, link])

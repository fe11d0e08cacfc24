"""`tf.gfile`."""

from pathlib import Path

import pytest

import byparts_frontend_tf as tf


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Text in UTF-8, line ends as they are; bytes."""
    path = str(tmp_path / "f")
    with tf.gfile.GFile(path, "w") as file:
        file.write("é\r\n")
        file.write(b"two\n")
        file.flush()
        assert file.size() == 8
    with tf.gfile.Open(path) as file:
        assert file.readline() == "é\r\n" and file.tell() == 4
        assert file.read() == "two\n" and file.read() == ""
        file.seek(4)
        assert file.readlines() == ["two\n"]
        file.seek(-4, 2)
        assert next(file) == "two\n"
        file.seek(position=0)
        assert list(file) == ["é\r\n", "two\n"]
    with tf.gfile.FastGFile(path, "rb") as file:
        assert file.read(2) == "é".encode() and file.read() == b"\r\ntwo\n"
    with tf.gfile.GFile(path, "a") as file:
        file.write("three")
    assert tf.gfile.GFile(path).readlines()[-1] == "three"


def test_a_file_is_opened_when_it_is_first_used(tmp_path: Path) -> None:
    """So a missing one is found then."""
    file = tf.gfile.GFile(tmp_path / "none")
    with pytest.raises(tf.errors.NotFoundError, match="none; No such file or directory"):
        file.read()
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for writing"):
        file.write("")
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for reading"):
        tf.gfile.GFile(tmp_path / "none", "w").read()
    with pytest.raises(tf.errors.InvalidArgumentError, match="x is not a valid mode"):
        tf.gfile.GFile(tmp_path / "none", "x")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        tf.gfile.GFile(tmp_path).read()


def test_folders(tmp_path: Path) -> None:
    deep = str(tmp_path / "a" / "b")
    with pytest.raises(tf.errors.NotFoundError, match="No such file"):
        tf.gfile.MkDir(deep)
    tf.gfile.MakeDirs(deep)
    tf.gfile.MakeDirs(deep)
    for name in ("y.txt", "x.txt", "x.png"):
        tf.gfile.GFile(f"{deep}/{name}", "w").write("")

    assert tf.gfile.IsDirectory(deep) and tf.gfile.Exists(deep)
    assert not tf.gfile.IsDirectory(f"{deep}/y.txt") and not tf.gfile.Exists(f"{deep}/z")
    assert tf.gfile.ListDirectory(deep) == ["x.png", "x.txt", "y.txt"]
    assert tf.gfile.Glob(f"{deep}/*.txt") == [f"{deep}/x.txt", f"{deep}/y.txt"]
    assert tf.gfile.Glob([f"{deep}/x.*", f"{deep}/x.txt"]) == [f"{deep}/x.png", f"{deep}/x.txt"]
    assert list(tf.gfile.Walk(tmp_path)) == [
        (str(tmp_path), ["a"], []),
        (str(tmp_path / "a"), ["b"], []),
        (deep, [], ["x.png", "x.txt", "y.txt"]),
    ]
    assert [row[0] for row in tf.gfile.Walk(tmp_path, False)][-1] == str(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory"):
        tf.gfile.ListDirectory(f"{deep}/none")
    with pytest.raises(tf.errors.AlreadyExistsError, match="File exists"):
        tf.gfile.MkDir(deep)


def test_files_are_copied_renamed_and_removed(tmp_path: Path) -> None:
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    tf.gfile.GFile(one, "w").write("1")
    tf.gfile.Copy(one, two)
    with pytest.raises(tf.errors.AlreadyExistsError, match=r"file already exists: .*two"):
        tf.gfile.Copy(one, two)
    tf.gfile.Copy(one, two, overwrite=True)
    with pytest.raises(tf.errors.AlreadyExistsError, match="file already exists"):
        tf.gfile.Rename(one, two)
    tf.gfile.Rename(one, two, overwrite=True)

    assert tf.gfile.ListDirectory(tmp_path) == ["two"]
    assert tf.gfile.Stat(two).length == 1 and not tf.gfile.Stat(two).is_directory
    tf.gfile.Remove(two)
    for missing in (tf.gfile.Remove, tf.gfile.Stat, tf.gfile.DeleteRecursively):
        with pytest.raises(tf.errors.NotFoundError, match="two; No such file"):
            missing(two)


def test_a_folder_is_removed_with_all_in_it(tmp_path: Path) -> None:
    tf.gfile.MakeDirs(tmp_path / "a" / "b")
    tf.gfile.DeleteRecursively(tmp_path / "a")

    assert tf.gfile.ListDirectory(tmp_path) == []


def test_other_names_and_other_systems(tmp_path: Path) -> None:
    """`tf.io.gfile`, `file_io`; what is in the cloud is refused."""
    tf.python.lib.io.file_io.write_string_to_file(f"file://{tmp_path}/f", "text")

    assert tf.io.gfile.glob(f"{tmp_path}/*") == [f"{tmp_path}/f"]
    assert tf.python.lib.io.file_io.read_file_to_string(f"{tmp_path}/f", True) == b"text"
    with pytest.raises(
        tf.errors.UnimplementedError, match="File system scheme 'gs' not implemented"
    ):
        tf.gfile.Exists("gs://bucket/file")

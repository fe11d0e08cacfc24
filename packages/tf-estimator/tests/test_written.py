"""Only files that this process wrote, in its own folder, are removed when there are too many."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_tf_estimator.estimators.exporters import LatestExporter
from byparts_tf_files.errors import InvalidArgumentError
from byparts_tf_files.write_checkpoint import remove_checkpoint, write_checkpoint


def _say(folder: Path, *paths: Any) -> None:
    """Write the state file of a stranger."""
    lines = [f'all_model_checkpoint_paths: "{p}"\n' for p in paths]
    (folder / "checkpoint").write_text(f'model_checkpoint_path: "{paths[-1]}"\n{"".join(lines)}')


def _train(folder: Path, steps: int = 3) -> None:
    """Resume from what the state file says, and write a checkpoint for each step; one is kept."""
    with tf.Graph().as_default():
        add = tf.train.get_or_create_global_step().assign_add(1)
        saver = tf.train.Saver(max_to_keep=1)
        hook = tf.train.CheckpointSaverHook(str(folder), save_steps=1, saver=saver)
        scaffold = tf.train.Scaffold(saver=saver)
        creator = tf.train.ChiefSessionCreator(scaffold, checkpoint_dir=str(folder))
        with tf.train.MonitoredSession(creator, [hook]) as session:
            for _ in range(steps):
                session.run(add)


def _strange(folder: Path) -> Path:
    """A checkpoint that another process wrote: nobody knows of it here."""
    made = write_checkpoint(folder / "made", {"global_step": np.array(7)})
    for end in (".index", ".data-00000-of-00001"):
        shutil.copy(made + end, f"{folder / 'model.ckpt-5'}{end}")
    remove_checkpoint(made)
    return folder / "model.ckpt-5"


@pytest.mark.parametrize("name", ["thesis.txt", "thesis", "inside/../thesis.txt"])
def test_a_state_file_that_names_any_file_does_not_remove_it(tmp_path: Path, name: str) -> None:
    """By its whole name, by the beginning of it, and by a way through the folder."""
    (tmp_path / "inside").mkdir()
    for end in (".txt", ".index", ".meta", ".data-00000-of-00001", "-00000-of-00001"):
        (tmp_path / f"thesis{end}").write_text("years of work")
    folder = tmp_path / "stranger"
    folder.mkdir()
    _say(folder, tmp_path / name, _strange(folder))
    _train(folder)

    assert len(list(tmp_path.glob("thesis*"))) == 5


def test_what_another_process_wrote_stays_and_what_this_one_wrote_goes(tmp_path: Path) -> None:
    _say(tmp_path, _strange(tmp_path))
    _train(tmp_path)

    assert sorted(p.name for p in tmp_path.glob("*.index")) == [
        *("model.ckpt-10.index", "model.ckpt-5.index")
    ]


def test_a_second_training_removes_the_checkpoints_of_the_first(tmp_path: Path) -> None:
    """Of this process, in this folder; in another folder they are not removed."""
    for name in ("a", "b"):
        _train(tmp_path / name)
    _train(tmp_path / "a")
    (path,) = (tmp_path / "a").glob("*.index")
    _say(tmp_path / "b", path.with_suffix(""), tmp_path / "b" / "model.ckpt-3")
    _train(tmp_path / "b")

    assert path.name == "model.ckpt-6.index" and path.exists()
    assert [p.name for p in (tmp_path / "b").glob("*.index")] == ["model.ckpt-6.index"]


@pytest.mark.parametrize("how", ["other content", "another file", "a link"])
def test_a_file_that_was_changed_since_is_not_ours(tmp_path: Path, how: str) -> None:
    """A user has put something of their own in the place of what was written."""
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.get_variable("w", []).initializer)
        saver = tf.train.Saver(max_to_keep=1)
        index = Path(f"{saver.save(session, tmp_path / 'm', 1)}.index")
        (tmp_path / "mine").write_text("mine")
        if how == "other content":
            index.write_text("mine")
        else:
            index.unlink()
            (os.symlink if how == "a link" else shutil.copy)(tmp_path / "mine", index)
        saver.save(session, tmp_path / "m", 2)

    assert index.read_text() == "mine" and (tmp_path / "mine").exists()


def test_a_forked_child_removes_nothing_of_its_parent(tmp_path: Path) -> None:
    program = f"""
import os, numpy as np
from byparts_tf_files.write_checkpoint import remove_own_checkpoint, write_checkpoint
write_checkpoint({str(tmp_path / "m")!r}, {{"w": np.ones(1)}})
child = os.fork()
if not child: os._exit(remove_own_checkpoint({str(tmp_path / "m")!r}))
print(os.waitpid(child, 0)[1], remove_own_checkpoint({str(tmp_path / "m")!r}))
"""
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True)

    assert run.stdout.split() == [b"0", b"True"], run.stderr


@pytest.mark.parametrize("name", ["note", "note.index", "note-00000-of-00001"])
def test_remove_checkpoint_takes_only_checkpoints(tmp_path: Path, name: str) -> None:
    """Also where a program asks for it: a file that is no table is not removed."""
    (tmp_path / name).write_text("a note")
    (tmp_path / "note.meta").write_text("its meta")

    with pytest.raises(InvalidArgumentError, match="is no part of a checkpoint"):
        remove_checkpoint(tmp_path / "note")

    assert sorted(os.listdir(tmp_path)) == sorted([name, "note.meta"])


def test_writing_over_a_checkpoint_leaves_files_that_are_none_of_its_own(tmp_path: Path) -> None:
    """The index says how many data files it has."""
    for name in ("m.data-abcde-of-fghij", "m.data-00000-of-00002", "m.data-00000-of-00007.old"):
        (tmp_path / name).write_text("a note")
    for _ in range(2):
        write_checkpoint(tmp_path / "m", {"w": np.ones(1)})

    assert len(os.listdir(tmp_path)) == 5


def test_an_exporter_removes_only_exports_that_it_wrote(tmp_path: Path) -> None:
    """Other folders are called by numbers, too."""
    (tmp_path / "2019").mkdir()
    (tmp_path / "2019" / "thesis.txt").write_text("years of work")
    numbers = iter(range(1_700_000_000, 1_700_000_009))

    class Model:
        def export_saved_model(self, folder: str, *_: Any, **__: Any) -> bytes:
            os.mkdir(path := os.path.join(folder, str(next(numbers))))
            return path.encode()

    exporter = LatestExporter("latest", lambda: None, exports_to_keep=2)
    for _ in range(4):
        exporter.export(Model(), str(tmp_path), "", {}, False)

    assert sorted(os.listdir(tmp_path)) == ["1700000002", "1700000003", "2019"]

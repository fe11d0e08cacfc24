"""The state file of a folder of checkpoints."""

import logging
from pathlib import Path

import numpy as np
import pytest

from byparts_tf_files.checkpoint_state import (
    checkpoint_exists,
    get_checkpoint_mtimes,
    get_checkpoint_state,
    latest_checkpoint,
    state_proto,
    update_checkpoint_state,
)
from byparts_tf_files.write_checkpoint import write_checkpoint

RECORDED = Path(__file__).parent / "recorded"


def test_the_state_that_tensorflow_wrote() -> None:
    assert latest_checkpoint(RECORDED) == str(RECORDED / "v2s.ckpt-7")
    assert checkpoint_exists(RECORDED / "v1.ckpt-7") and checkpoint_exists(RECORDED / "v1s.ckpt-7")
    assert not checkpoint_exists(RECORDED / "v1")


def test_the_last_checkpoint_is_named(tmp_path: Path) -> None:
    paths = [write_checkpoint(tmp_path / f"m-{k}", {"w": np.ones(1)}) for k in range(3)]
    update_checkpoint_state(tmp_path, paths[2], paths, all_model_checkpoint_timestamps=[1, 2, 3])
    state = get_checkpoint_state(tmp_path)

    assert state is not None and state.model_checkpoint_path == paths[2]
    assert list(state.all_model_checkpoint_paths) == paths
    assert list(state.all_model_checkpoint_timestamps) == [1, 2, 3]
    assert latest_checkpoint(str(tmp_path)) == paths[2]
    assert len(get_checkpoint_mtimes([*paths, tmp_path / "none"])) == 3


def test_the_text_is_that_of_tensorflow(tmp_path: Path) -> None:
    """Paths relative to the folder, if they are to be."""
    update_checkpoint_state(
        tmp_path, tmp_path / "m-1", [tmp_path / "m-0"], save_relative_paths=True
    )

    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "m-1"\n'
        'all_model_checkpoint_paths: "m-0"\nall_model_checkpoint_paths: "m-1"\n'
    )


def test_paths_relative_to_the_program_become_relative_to_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write_checkpoint("saved/m-1", {"w": np.ones(1)})
    update_checkpoint_state("saved", path)

    assert 'model_checkpoint_path: "m-1"' in (tmp_path / "saved" / "checkpoint").read_text()
    assert latest_checkpoint("saved") == "saved/m-1"


def test_no_state_and_a_wrong_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """`None`; a wrong one is told."""
    logging.getLogger("tensorflow").propagate = True
    assert get_checkpoint_state(tmp_path) is None and latest_checkpoint(tmp_path) is None
    for text in ("model_checkpoint_path: 3", "", "\xff"):
        (tmp_path / "checkpoint").write_bytes(text.encode("latin-1"))
        assert get_checkpoint_state(tmp_path) is None
        assert "Checkpoint ignored" in caplog.records[-1].message
    (tmp_path / "other").write_text('model_checkpoint_path: "gone"')
    assert latest_checkpoint(tmp_path, "other") is None
    assert "Couldn't match files for checkpoint" in caplog.records[-1].message


def test_what_is_no_state() -> None:
    with pytest.raises(ValueError, match="Checkpoint timestamps, if provided, must match"):
        state_proto("/d", "/d/m", ["/d/m"], [1, 2])
    with pytest.raises(RuntimeError, match="conflicts with path used for checkpoint state"):
        update_checkpoint_state("/d", "/d/checkpoint")

"""The file "checkpoint" of a folder, which says what checkpoints there are and which is the last.

Source: TensorFlow's `checkpoint_state.proto`, as text.  It is replaced as a whole.  Paths in it are
relative to the folder where the program's own are.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from typing import Any, Optional

from byparts_tf_files.atomic import replace_file
from byparts_tf_files.bundle import index_file
from byparts_tf_files.checkpoint import first_format_files
from byparts_tf_files.messages.checkpoint import CheckpointState
from byparts_tf_files.paths import path_of
from byparts_tf_files.text_format import MessageToString, Parse, ParseError


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is a checkpoint of either format whose files begin so."""
    prefix = path_of(checkpoint_prefix)
    return os.path.isfile(index_file(prefix)) or bool(first_format_files(prefix))


def get_checkpoint_mtimes(checkpoint_prefixes: Iterable[Any]) -> list[float]:
    """Times in seconds when checkpoints were written; those that are not there are left out."""
    times = []
    for given in checkpoint_prefixes:
        prefix = path_of(given)
        index = index_file(prefix)
        files = [index] if os.path.isfile(index) else first_format_files(prefix)[:1]
        times += [os.stat(file).st_mtime for file in files]
    return times


def state_proto(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Optional[Iterable[Any]] = None,
    all_model_checkpoint_timestamps: Optional[Iterable[float]] = None,
    last_preserved_timestamp: Optional[float] = None,
) -> CheckpointState:
    """The state of a folder whose last checkpoint is `model_checkpoint_path`.

    Raises:
        ValueError: there are not as many times as paths.
    """
    folder, last = path_of(save_dir), path_of(model_checkpoint_path)
    paths = [path_of(p) for p in all_model_checkpoint_paths or ()]
    times = None if all_model_checkpoint_timestamps is None else [*all_model_checkpoint_timestamps]
    if not paths or paths[-1] != last:
        paths.append(last)
    if times is not None and len(times) != len(paths):
        raise ValueError(
            f"Checkpoint timestamps, if provided, must match checkpoint paths (got paths {paths} "
            f"and timestamps {times})"
        )
    if not os.path.isabs(folder):
        last, *paths = [
            p if os.path.isabs(p) else os.path.relpath(p, folder) for p in (last, *paths)
        ]
    return CheckpointState(
        model_checkpoint_path=last,
        all_model_checkpoint_paths=paths,
        all_model_checkpoint_timestamps=times,
        last_preserved_timestamp=last_preserved_timestamp,
    )


def update_checkpoint_state(
    save_dir: Any,
    model_checkpoint_path: Any,
    all_model_checkpoint_paths: Optional[Iterable[Any]] = None,
    latest_filename: Optional[str] = None,
    all_model_checkpoint_timestamps: Optional[Iterable[float]] = None,
    last_preserved_timestamp: Optional[float] = None,
    save_relative_paths: bool = False,
) -> None:
    """Write the state file of a folder.

    Args:
        save_dir: the folder.
        model_checkpoint_path: the last checkpoint.
        all_model_checkpoint_paths: all that are there, the last one last.
        latest_filename: of the state file; "checkpoint" by default.
        all_model_checkpoint_timestamps: when each was written, in seconds.
        last_preserved_timestamp: of the last one that is kept for good.
        save_relative_paths: write paths relative to the folder.

    Raises:
        OpError: it cannot be written.
        RuntimeError: a checkpoint has the name of the state file.
    """
    folder, last = path_of(save_dir), path_of(model_checkpoint_path)
    paths = [path_of(p) for p in all_model_checkpoint_paths or ()]
    if save_relative_paths:
        last, *paths = [
            os.path.relpath(p, folder) if os.path.isabs(p) else p for p in (last, *paths)
        ]
    state = state_proto(
        folder, last, paths, all_model_checkpoint_timestamps, last_preserved_timestamp
    )
    name = _state_file(folder, latest_filename)
    if name == state.model_checkpoint_path:
        raise RuntimeError(f"Save path {last!r} conflicts with path used for checkpoint state")
    replace_file(name, MessageToString(state).encode())


def get_checkpoint_state(
    checkpoint_dir: Any, latest_filename: Optional[str] = None
) -> Optional[CheckpointState]:
    """The state of a folder, with paths that begin with the folder; `None` if it has none.

    A file that is none is told to `tf.logging`, and is as if it were not there.
    """
    folder = path_of(checkpoint_dir)
    name = _state_file(folder, latest_filename)
    try:
        with open(name, encoding="utf-8") as file:
            state = Parse(file.read(), CheckpointState())
        if not state.model_checkpoint_path:
            raise ParseError("no model_checkpoint_path")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, ParseError) as error:
        _logger().warning("%s: %s\n%s: Checkpoint ignored", type(error).__name__, error, name)
        return None
    inside = [os.path.join(folder, p) for p in state.all_model_checkpoint_paths]
    state.model_checkpoint_path = os.path.join(folder, state.model_checkpoint_path)
    state.all_model_checkpoint_paths[:] = inside
    return state


def latest_checkpoint(checkpoint_dir: Any, latest_filename: Optional[str] = None) -> Optional[str]:
    """The path of the last checkpoint of a folder; `None` if there is none."""
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    if state is None:
        return None
    path: str = state.model_checkpoint_path
    if checkpoint_exists(path):
        return path
    _logger().error("Couldn't match files for checkpoint %s", path)
    return None


def _state_file(folder: str, latest_filename: Optional[str]) -> str:
    return os.path.join(folder, "checkpoint" if latest_filename is None else latest_filename)


def _logger() -> logging.Logger:
    return logging.getLogger("tensorflow")

"""Checkpoints of a training: model, optimizer, history and the place in the data, in one file.

A checkpoint replaces the one before as a whole (`byparts_weights`), so a process that is killed, or
a full disk, leaves the last one.  Every array has its checksum in the file: .safetensors has none.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from byparts_eager import Cell
from byparts_graph_ir import FormatError, GraphError
from byparts_nn.history import History
from byparts_nn.weights import arrays_of, assign
from byparts_weights import load, save

_STATE, _LOSSES = "fit.state", "fit.losses"


@dataclass
class Progress:
    """The place that a training has reached.

    Attributes:
        epoch: that is going on, from 0 on.
        batch: how many of its batches are done.
        total: the sum of its losses, each times the samples of its batch.
        samples: that its losses are of.
        seconds: that it has taken.
    """

    epoch: int = 0
    batch: int = 0
    total: float = 0.0
    samples: int = 0
    seconds: float = 0.0


def save_checkpoint(
    path: str,
    cells: Mapping[str, Cell],
    progress: Progress,
    history: History,
    facts: Mapping[str, object],
) -> None:
    """Write a checkpoint.

    Args:
        path: the file; .safetensors, or any other name for an .npz.
        cells: all state of the model and the optimizer, by name.
        progress: how far it is.
        history: so far.
        facts: that must be the same when the training goes on, such as the batch size.

    Raises:
        OSError: it cannot be written; the old one is there.
    """
    arrays = arrays_of(cells)
    arrays[_LOSSES] = np.array(history.losses, np.float64)
    state = {
        "progress": vars(progress),
        "rows": history.rows,
        "facts": dict(facts),
        "checksums": {name: _checksum(array) for name, array in arrays.items()},
    }
    text = json.dumps(state).encode()
    arrays[_STATE] = np.frombuffer(f"{zlib.crc32(text):08x}".encode() + text, np.uint8)
    save(path, arrays)


def load_checkpoint(
    path: str, cells: Mapping[str, Cell], history: History, facts: Mapping[str, object]
) -> Progress:
    """Read a checkpoint into cells and history; all of it, or nothing.

    Raises:
        FormatError: it is damaged, or no checkpoint of a training.
        GraphError: it is one of another model, or of training with other facts.
        OSError: it cannot be read.
    """
    arrays = load(path)
    state = _state(path, arrays)
    checksums = state["checksums"]
    for name, array in arrays.items():
        if checksums.pop(name, None) != _checksum(array):
            raise FormatError(f"{path} is damaged: array {name!r} is not what was saved")
    if checksums:
        raise FormatError(f"{path} is damaged: array {next(iter(checksums))!r} is not there")
    for name, value in facts.items():
        if state["facts"].get(name) != value:
            was = state["facts"].get(name)
            what = f"{path} was made with {name}={was!r}, and this call has {name}={value!r}"
            raise GraphError(f"{what}; resume with the same, or start anew with resume=False")
    losses = arrays.pop(_LOSSES)
    if set(arrays) != set(cells):
        names = ", ".join(sorted(set(arrays) ^ set(cells))[:6])
        raise GraphError(f"{path} is of another model or optimizer; in one of both alone: {names}")
    assign(path, cells, arrays)
    history.rows, history.losses = state["rows"], losses.tolist()
    return Progress(**state["progress"])


def _state(path: str, arrays: dict[str, Any]) -> dict[str, Any]:
    """Take the state out of the arrays: a checksum of eight digits, and JSON."""
    if _STATE not in arrays or _LOSSES not in arrays:
        raise FormatError(f"{path} is no checkpoint of a training: it has no {_STATE!r}")
    data: bytes = arrays.pop(_STATE).tobytes()
    if data[:8] != f"{zlib.crc32(data[8:]):08x}".encode():
        raise FormatError(f"{path} is damaged: array {_STATE!r} is not what was saved")
    try:
        state: dict[str, Any] = json.loads(data[8:])
        Progress(**state["progress"]), dict(state["checksums"]), dict(state["facts"]), state["rows"]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        what = f"{type(error).__name__}: {error}"
        raise FormatError(f"{path}: {_STATE!r} is nothing that fit writes: {what:.80}") from error
    return state


def _checksum(array: Any) -> int:
    """A number that another dtype, another shape, or another byte would change."""
    return zlib.crc32(np.ascontiguousarray(array).tobytes(), zlib.crc32(_kind(array).encode()))


def _kind(array: Any) -> str:
    return f"{array.dtype.name}{array.shape}"

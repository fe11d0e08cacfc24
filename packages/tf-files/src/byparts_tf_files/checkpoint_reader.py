"""`tf.train.NewCheckpointReader`, `list_variables` and `load_variable`."""

from __future__ import annotations

import os
from typing import Any

from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.checkpoint_state import latest_checkpoint
from byparts_tf_files.dtypes import DType
from byparts_tf_files.errors import NotFoundError
from byparts_tf_files.messages.tensor import DataType
from byparts_tf_files.paths import path_of
from byparts_tf_files.tensors_by_name import Array


class CheckpointReader:
    """An open checkpoint, as TensorFlow gives it.

    Raises:
        NotFoundError: there is none.
        DataLossError: it is damaged.
    """

    def __init__(self, filepattern: Any) -> None:
        self._tensors = read_checkpoint(filepattern)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """The sizes of each tensor."""
        return {name: list(self._tensors.dims(name)) for name in self._tensors}

    def get_variable_to_dtype_map(self) -> dict[str, DType]:
        """The dtype of each tensor."""
        return {name: self._tensors.dtype(name) for name in self._tensors}

    def has_tensor(self, tensor_str: Any) -> bool:
        """Whether there is a tensor of that name."""
        return _name(tensor_str) in self._tensors

    def get_tensor(self, tensor_str: Any) -> Array:
        """A tensor.

        Raises:
            NotFoundError: there is none of that name.
            DataLossError: it is damaged.
        """
        name = _name(tensor_str)
        if name not in self._tensors:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._tensors[name]

    def debug_string(self) -> bytes:
        """Names, dtypes and shapes, a line for each."""
        lines = []
        for name in self._tensors:
            kind = DataType.Name(self._tensors.dtype(name).as_datatype_enum)
            lines.append(f"{name} ({kind}) {list(self._tensors.dims(name))}")
        return "\n".join(lines).encode()


def new_checkpoint_reader(filepattern: Any) -> CheckpointReader:
    """`tf.train.NewCheckpointReader`.

    Raises:
        NotFoundError: there is none.
        DataLossError: it is damaged.
    """
    return CheckpointReader(filepattern)


def load_checkpoint(ckpt_dir_or_file: Any) -> CheckpointReader:
    """A checkpoint, or the last one of a folder.

    Raises:
        ValueError: the folder has none.
        NotFoundError: there is no such checkpoint.
    """
    path = path_of(ckpt_dir_or_file)
    if os.path.isdir(path):
        last = latest_checkpoint(path)
        if last is None:
            raise ValueError(
                f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}"
            )
        path = last
    return CheckpointReader(path)


def load_variable(ckpt_dir_or_file: Any, name: str) -> Array:
    """Read a tensor of a checkpoint, or of the last checkpoint of a folder.

    Raises:
        NotFoundError: there is none of that name.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """The names of all tensors with their sizes, sorted."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def _name(given: Any) -> str:
    return given.decode() if isinstance(given, bytes) else str(given)

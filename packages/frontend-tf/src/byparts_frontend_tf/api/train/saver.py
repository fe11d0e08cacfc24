"""`tf.train.Saver`: variables in checkpoints, of which the last few are kept.

A checkpoint is of TensorFlow's second format, and its data file is a .safetensors as well
(`write_checkpoint.py` of byparts-tf-files).  Restoring reads checkpoints of TensorFlow itself, of
both formats.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.logging import info, warning
from byparts_frontend_tf.api.train.saver_ops import SaverOperations
from byparts_frontend_tf.api.variables.variable_lists import global_variables
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.checkpoint_state import (
    checkpoint_exists,
    get_checkpoint_mtimes,
    update_checkpoint_state,
)
from byparts_tf_files.errors import InvalidArgumentError, NotFoundError
from byparts_tf_files.messages.meta_graph import SaverDef
from byparts_tf_files.paths import path_of
from byparts_tf_files.write_checkpoint import remove_own_checkpoint, write_checkpoint
from byparts_tf_files.written import is_below

_HOUR_S = 3600.0


@symbol("train.Saver")
class Saver:
    """Saves and restores variables.

    Args:
        var_list: variables, or name in the checkpoint -> variable; by default all global ones, and
            what is in SAVEABLE_OBJECTS.
        reshape: whether a tensor in a checkpoint may have another shape of as many elements.
        max_to_keep: how many checkpoints are kept; `None` or 0: all.  Those that another process
            wrote, or that are no longer as this one wrote them, are never removed.
        keep_checkpoint_every_n_hours: one in so many hours is kept for good.
        name: of the scope of its operations.
        allow_empty: whether there may be no variable.
        pad_step_number: whether the number of the step has eight digits.
        save_relative_paths: whether the state file has paths relative to its folder.
        saver_def: a message that says which operations of the graph it has, instead.
        sharded, restore_sequentially, builder, write_version, filename: accepted.
        defer_build: whether the variables are looked for when first needed.

    Raises:
        ValueError: there is no variable; two have one name.
    """

    def __init__(
        self,
        var_list: Any = None,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: Optional[int] = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: Optional[str] = None,
        restore_sequentially: bool = False,
        saver_def: Any = None,
        builder: Any = None,
        defer_build: bool = False,
        allow_empty: bool = False,
        write_version: Any = None,
        pad_step_number: bool = False,
        save_relative_paths: bool = False,
        filename: Optional[str] = None,
    ) -> None:
        self._given, self._reshape, self._allow_empty = var_list, reshape, allow_empty
        self._max_to_keep = max_to_keep or 0
        self._keep_hours, self._name = keep_checkpoint_every_n_hours, name
        self._pad, self._relative = pad_step_number, save_relative_paths
        self._last: list[tuple[str, float]] = []
        self._own: set[str] = set()  # the paths that this saver wrote
        self._saving = threading.Lock()  # one after the other: the last to begin is the latest
        self._next_kept_s = time.time() + keep_checkpoint_every_n_hours * _HOUR_S
        self._operations: Optional[SaverOperations] = None
        self._last_meta: Optional[tuple[Any, Optional[bytes]]] = None
        if saver_def is not None and var_list is None:
            self._operations = SaverOperations.named(saver_def, name)
            self._max_to_keep = saver_def.max_to_keep
            self._keep_hours = saver_def.keep_checkpoint_every_n_hours
        elif not defer_build:
            self.build()

    def build(self) -> None:
        """Find the variables, and make the operations that give them values."""
        if self._operations is not None:
            return
        found = self._found()
        if not found and not self._allow_empty:
            raise ValueError("No variables to save")
        self._operations = SaverOperations(found, self._name)

    def _found(self) -> dict[str, Variable]:
        """Name in a checkpoint -> variable."""
        given = self._given
        if given is None:
            given = [*global_variables(), *get_collection(GraphKeys.SAVEABLE_OBJECTS)]
        if isinstance(given, Mapping):
            return {str(name): _variable(v) for name, v in given.items()}
        found: dict[str, Variable] = {}
        for v in map(_variable, dict.fromkeys(given)):
            if v.op.name in found:
                raise ValueError(f"At least two variables have the same name: {v.op.name}")
            found[v.op.name] = v
        return found

    def _built(self) -> SaverOperations:
        self.build()
        assert self._operations is not None
        return self._operations

    def as_saver_def(self, export_scope: Optional[str] = None) -> Any:
        """The message of its operations' names."""
        return SaverDef(
            max_to_keep=self._max_to_keep,
            keep_checkpoint_every_n_hours=self._keep_hours,
            version=SaverDef.V2,
            **self._built().message(export_scope),
        )

    to_proto = as_saver_def
    saver_def = property(as_saver_def)

    @staticmethod
    def from_proto(saver_def: Any, import_scope: Optional[str] = None) -> Saver:
        """The saver of a message, whose operations are in the default graph."""
        return Saver(saver_def=saver_def, name=import_scope)

    def export_meta_graph(
        self,
        filename: Any = None,
        collection_list: Any = None,
        as_text: bool = False,
        export_scope: Optional[str] = None,
        clear_devices: bool = False,
        **more: Any,
    ) -> Any:
        """The graph with its collections and this saver, as `tf.train.export_meta_graph`."""
        from byparts_frontend_tf.api.train.export_meta_graph import export_meta_graph

        return export_meta_graph(
            filename=filename,
            saver_def=self.as_saver_def(export_scope),
            collection_list=collection_list,
            as_text=as_text,
            export_scope=export_scope,
            clear_devices=clear_devices,
            **more,
        )

    # Saving

    def save(
        self,
        sess: Any,
        save_path: Any,
        global_step: Any = None,
        latest_filename: Optional[str] = None,
        meta_graph_suffix: str = "meta",
        write_meta_graph: bool = True,
        write_state: bool = True,
        strip_default_attrs: bool = False,
        save_debug_info: bool = False,
    ) -> Optional[str]:
        """Write the values of the variables in this session; the path of the checkpoint.

        Args:
            sess: the session.
            save_path: how the names of its files begin.
            global_step: a number, or a tensor of one, that is put behind the path.
            latest_filename: of the state file, "checkpoint" by default.
            write_state: whether the state file is written, and old checkpoints removed.
            meta_graph_suffix: accepted; the file of the graph ends in ".meta".
            write_meta_graph: whether the graph is written, too.
            strip_default_attrs: accepted.
            save_debug_info: accepted.

        Raises:
            FailedPreconditionError: a variable has no value.
            ValueError: the name of the checkpoint is that of the state file.
            OpError: a file cannot be written.
        """
        prefix = path_of(save_path)
        name = "checkpoint" if latest_filename is None else latest_filename
        if os.path.basename(prefix) == name:
            raise ValueError(
                f"'latest_filename' collides with 'save_path': '{name}' and '{prefix}'"
            )
        if os.path.split(name)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        if not self._built().variables:
            return None
        with self._saving:
            path = self._write(sess, prefix, global_step, write_meta_graph)
            if write_state:
                self._remember(path)
                self._write_state(path, latest_filename)
        return path

    def _write(self, sess: Any, prefix: str, global_step: Any, with_graph: bool) -> str:
        variables = self._built().variables
        path = f"{prefix}-{self._step(sess, global_step)}" if global_step is not None else prefix
        values = sess.run(list(variables.values()))
        arrays = {n: np.asarray(a) for n, a in zip(variables, values, strict=True)}
        write_checkpoint(path, arrays, self._meta(sess.graph) if with_graph else None)
        return path

    def _write_state(self, path: str, latest_filename: Optional[str]) -> None:
        paths, times = zip(*self._last, strict=True) if self._last else ((path,), None)
        update_checkpoint_state(
            os.path.dirname(path) or ".",
            path,
            paths,
            latest_filename,
            all_model_checkpoint_timestamps=times,
            save_relative_paths=self._relative,
        )

    def _step(self, sess: Any, given: Any) -> str:
        step = given if isinstance(given, (int, np.integer)) else sess.run(given)
        return f"{int(step):08d}" if self._pad else str(int(step))

    def _remember(self, path: str) -> None:
        """The checkpoint is one of the last; remove what is too many."""
        if not self._max_to_keep:
            return
        self._last = [(p, t) for p, t in self._last if p != path]
        self._last.append((path, time.time()))
        self._own.add(path)
        while len(self._last) > self._max_to_keep:
            old, written_s = self._last.pop(0)
            if written_s > self._next_kept_s:
                self._next_kept_s += self._keep_hours * _HOUR_S
            elif not self._remove(old, os.path.dirname(path)):
                info("%s is not removed: this process did not write it here", old)

    def _remove(self, old: str, folder: str) -> bool:
        """Remove a checkpoint of this process: its own saver's, or one in the folder that is used.

        A state file, which is where other paths come from, may be a stranger's.
        """
        own = old in self._own or is_below(old, folder)
        self._own.discard(old)
        return own and remove_own_checkpoint(old)

    # Restoring

    def restore(self, sess: Any, save_path: Any) -> None:
        """Give the variables the values of a checkpoint, all or none.

        Raises:
            ValueError: there is no path, or no checkpoint there.
            NotFoundError: a variable is not in it.
            InvalidArgumentError: a tensor is of another shape or dtype than its variable.
            DataLossError: it is damaged.
        """
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        operations = self._built()
        prefix = path_of(save_path)
        if not operations.variables:
            return
        if not checkpoint_exists(prefix):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {prefix}")
        info("Restoring parameters from %s", prefix)
        checkpoint = read_checkpoint(prefix)
        feeds = {
            operations.restored[name]: self._value(checkpoint, name, v, prefix)
            for name, v in operations.variables.items()
        }
        sess.run(operations.restore, feeds)

    def _value(self, checkpoint: Any, name: str, v: Variable, prefix: str) -> Any:
        if name not in checkpoint:
            raise NotFoundError(None, v.op, f"Key {name} not found in checkpoint {prefix}")
        array = np.asarray(checkpoint[name])
        dtype = v.dtype.base_dtype
        if array.dtype != dtype.as_numpy_dtype:
            raise InvalidArgumentError(
                None,
                v.op,
                f"tensor_name = {name}; expected dtype {dtype.name} does not equal original dtype "
                f"{array.dtype.name} in {prefix}",
            )
        dims = v.get_shape().as_list() if v.get_shape().ndims is not None else None
        if dims is None or None in dims or list(array.shape) == dims:
            return array
        if self._reshape and array.size == int(np.prod([d or 0 for d in dims])):
            return array.reshape(dims)
        raise InvalidArgumentError(
            None,
            v.op,
            f"Assign requires shapes of both tensors to match. lhs shape= {dims} rhs shape= "
            f"{list(array.shape)}: {name} in {prefix}",
        )

    # What there is

    def _meta(self, graph: Any) -> Optional[bytes]:
        """Content of the graph's file; `None` where something in it cannot be written."""
        now = graph.version, graph.changes
        if self._last_meta is None or self._last_meta[0] != now:
            try:
                data = self.export_meta_graph(graph=graph).SerializeToString()
            except (TypeError, ValueError, NotImplementedError) as error:
                warning("The graph is not written beside its variables: %s", error)
                data = None
            self._last_meta = now, data
        return self._last_meta[1]

    @property
    def last_checkpoints(self) -> list[str]:
        """The paths of the checkpoints that are kept, the oldest first."""
        return [path for path, _ in self._last]

    def set_last_checkpoints(self, last_checkpoints: Sequence[str]) -> None:
        """Say which checkpoints there are, the oldest first."""
        self.set_last_checkpoints_with_time([(path, float("inf")) for path in last_checkpoints])

    def set_last_checkpoints_with_time(
        self, last_checkpoints_with_time: Sequence[tuple[str, float]]
    ) -> None:
        """Say which checkpoints there are, and when they were written, in seconds."""
        self._last = [(path, written_s) for path, written_s in last_checkpoints_with_time]

    def recover_last_checkpoints(self, checkpoint_paths: Sequence[str]) -> None:
        """Say which checkpoints there may be; those that are not there are left out."""
        there = [p for p in checkpoint_paths if checkpoint_exists(p)]
        times = get_checkpoint_mtimes(there)
        self.set_last_checkpoints_with_time(list(zip(there, times, strict=True)))


def _variable(given: Any) -> Variable:
    """The variable that is meant: itself, or the one whose memory a tensor is."""
    if isinstance(given, Variable):
        return given
    found = getattr(getattr(given, "op", None), "variable_object", None)
    if not isinstance(found, Variable):
        raise TypeError(f"Variable to save is not a Variable: {given}")
    return found

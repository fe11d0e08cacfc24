"""The operations of a saver: in TensorFlow's names, so that what has only their names can use them.

session.run("save/restore_all", {"save/Const:0": path})
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.identity import group, identity
from byparts_frontend_tf.api.placeholder import placeholder_with_default
from byparts_frontend_tf.api.train.reading_only import check_writes_nothing
from byparts_frontend_tf.api.variables.variables import Variable, assign
from byparts_frontend_tf.graph.convert import constant_of
from byparts_frontend_tf.graph.kind import KINDS, Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import control_dependencies, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.graph.static import static_value
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.errors import NotFoundError
from byparts_tf_files.messages.meta_graph import SaverDef
from byparts_tf_files.write_checkpoint import write_checkpoint

_OLD = ("RestoreSlice", "Restore")  # one tensor each, in graphs of TensorFlow before 1.0


def _text(given: Any) -> str:
    return bytes(np.asarray(given, object)[()]).decode()


def _names(given: Any) -> list[str]:
    return [bytes(n).decode() for n in np.ravel(given)]


def _save(prefix: Any, names: Any, slices: Any, *arrays: Any, dtypes: Any) -> None:
    pairs = zip(_names(names), arrays, strict=True)
    write_checkpoint(_text(prefix), {n: np.asarray(a) for n, a in pairs})


def _read(prefix: Any, names: Any, slices: Any, dtypes: Any) -> Any:
    checkpoint = read_checkpoint(_text(prefix))
    found = []
    for name in _names(names):
        if name not in checkpoint:
            message = f"Key {name} not found in checkpoint {_text(prefix)}"
            raise NotFoundError(None, None, message)
        found.append(np.asarray(checkpoint[name]))
    return found[0] if len(found) == 1 else found


SAVE = Kind(
    "SaveV2",
    host=_save,
    shape=lambda inputs, dtypes: [],
    dtype=lambda inputs, dtypes: [],
    gradient=False,
    effect=True,
)
RESTORE = Kind(
    "RestoreV2",
    host=_read,
    shape=lambda inputs, dtypes: [None] * len(dtypes),
    dtype=lambda inputs, dtypes: list(dtypes),
    gradient=False,
    effect=True,
)
KINDS["RestoreV2"] = RESTORE  # what a file means by it


class SaverOperations:
    """The operations of a saver.

    Attributes:
        variables: name in a checkpoint -> variable.
        restored: name -> the tensor that its variable is given.
        restore: gives all variables the values of the checkpoint at `filename`.
        filename: the path, to be fed.
        saved: the path, when all have been written.
    """

    def __init__(self, variables: Mapping[str, Variable], name: Optional[str]) -> None:
        self.variables = {n: variables[n] for n in sorted(variables)}
        with name_scope(name, "save"):
            self.filename = _filename()
            memory = [v._ref() for v in self.variables.values()]
            dtypes = [t.dtype.base_dtype for t in memory]
            self.saved: Tensor = self.filename
            found: tuple[Tensor, ...] = ()
            if memory:
                wanted = _wanted(list(self.variables), "SaveV2")
                save = SAVE.operation(
                    [self.filename, *wanted, *memory], "SaveV2", dtypes=tuple(dtypes)
                )
                with control_dependencies([save]):
                    self.saved = identity(self.filename, name="control_dependency")
                wanted = _wanted(list(self.variables), "RestoreV2")
                found = RESTORE.outputs(
                    self.filename, *wanted, name="RestoreV2", dtypes=tuple(dtypes)
                )
            self.restored = dict(zip(self.variables, found, strict=True))
            writes = [
                assign(v, self.restored[n], validate_shape=False, name="Assign").op
                for n, v in self.variables.items()
            ]
            self.restore = group(*writes, name="restore_all")

    @classmethod
    def named(cls, message: SaverDef, scope: Optional[str]) -> SaverOperations:
        """Find the saver's operations that a message names, in the default graph.

        Raises:
            KeyError: they are not there.
            ValueError: what restores writes a file.
        """
        graph, start = get_default_graph(), f"{scope}/" if scope else ""
        made = cls.__new__(cls)
        made.filename = graph.get_tensor_by_name(start + message.filename_tensor_name)
        made.saved = graph.get_tensor_by_name(start + message.save_tensor_name)
        made.restore = graph.get_operation_by_name(start + message.restore_op_name)
        check_writes_nothing(made.restore, "the saver")
        made.variables, made.restored = {}, {}
        for name, op in _assignments(made.restore):
            variable = op.inputs[0].op.variable_object
            if variable is not None:
                made.variables[name], made.restored[name] = variable, op.inputs[1]
        return made

    def message(self, export_scope: Optional[str] = None) -> dict[str, str]:
        """The names, as fields of a `SaverDef`; without the scope in front of them."""
        cut = len(export_scope) + 1 if export_scope else 0
        return {
            "filename_tensor_name": self.filename.name[cut:],
            "save_tensor_name": self.saved.name[cut:],
            "restore_op_name": self.restore.name[cut:],
        }


def _filename() -> Tensor:
    first = constant_of(np.array(b"model", object), "filename/input")
    filename = placeholder_with_default(first, (), name="filename")
    return placeholder_with_default(filename, (), name="Const")


def _wanted(names: Sequence[str], of: str) -> list[Tensor]:
    """The names of tensors in a file, and which parts of them: all."""
    rows = {"tensor_names": [n.encode() for n in names], "shape_and_slices": [b""] * len(names)}
    made = []
    for name, values in rows.items():
        array = np.empty(len(values), object)
        array[:] = values
        made.append(constant_of(array, f"{of}/{name}"))
    return made


def _assignments(restore: Operation) -> Iterator[tuple[str, Operation]]:
    """Name in a checkpoint, and the operation that assigns what is read."""
    for op in restore.control_inputs:
        if op.type == "NoOp":  # of a shard
            yield from _assignments(op)
        elif len(op.inputs) == 2:
            source = op.inputs[1]
            while source.op.type == "Identity":
                source = source.op.inputs[0]
            names = static_value(source.op.inputs[1]) if len(source.op.inputs) > 1 else None
            if source.op.type == "RestoreV2" and names is not None:
                yield _names(names)[source.value_index], op
            elif source.op.type in _OLD and names is not None:
                yield _text(names), op

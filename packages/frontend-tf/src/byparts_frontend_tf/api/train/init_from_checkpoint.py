"""Variables whose first value is read from a checkpoint: `init_from_checkpoint`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from byparts_frontend_tf.api.variables.variable_store import variable_store
from byparts_frontend_tf.api.variables.variables import ASSIGN, Variable
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.checkpoint_reader import load_checkpoint
from byparts_tf_files.dtypes import string

_RESTORE = Kind(
    "RestoreV2",
    host=lambda read, dims, dtype: read(),
    shape=lambda inputs, read, dims, dtype: dims,
    dtype=lambda inputs, read, dims, dtype: dtype,
    gradient=False,
)


def begin_with(variable: Variable, read: Callable[[], Any]) -> None:
    """Let the first value of a variable be an array that `read` gives, at each initialisation."""
    dims, dtype = variable._variable.dims, variable.dtype.base_dtype

    def value() -> Any:
        found = np.asarray(read())
        return found if dtype is string else found.astype(dtype.as_numpy_dtype)

    with variable.graph.as_default(), name_scope(None), name_scope("checkpoint_initializer"):
        first = _RESTORE(name="RestoreV2", read=value, dims=dims, dtype=dtype)
        op = ASSIGN.operation((variable._variable, first), "Assign", validate_shape=True)
    op.initializes = variable.op
    variable._initializer_op, variable._initial_value = op, first


@symbol("train.init_from_checkpoint")
def init_from_checkpoint(ckpt_dir_or_file: Any, assignment_map: Any) -> None:
    """Let variables begin with what a checkpoint holds.

    Args:
        ckpt_dir_or_file: a checkpoint, or a folder of them.
        assignment_map: name in the checkpoint -> variable, list of the parts of one, or name of a
            variable; or scope in the checkpoint -> scope here, both ending with "/".

    Raises:
        ValueError: a name is not in the checkpoint, or not in the graph; shapes differ.
    """
    reader = load_checkpoint(ckpt_dir_or_file)
    shapes = reader.get_variable_to_shape_map()
    pairs = assignment_map.items() if isinstance(assignment_map, Mapping) else assignment_map
    for name, target in pairs:
        if isinstance(target, str) and (target.endswith("/") or name.endswith("/")):
            _scopes(reader, shapes, str(name), target)
        else:
            _one(reader, shapes, str(name), target)


def _one(reader: Any, shapes: Mapping[str, Any], name: str, target: Any) -> None:
    if name not in shapes:
        raise ValueError(f"Tensor {name} is not found in {list(shapes)[:20]}... of the checkpoint")
    if isinstance(target, (list, tuple)):
        raise NotImplementedError(
            "init_from_checkpoint of a partitioned variable: give one variable"
        )
    variable = variable_store().variables.get(target) if isinstance(target, str) else target
    if variable is None:
        raise ValueError(f"Variable {target} is not found in the graph; names are of get_variable")
    if isinstance(variable, Tensor):
        variable = variable.op.variable_object
    dims = variable.get_shape().as_list()
    if dims != shapes[name]:
        raise ValueError(
            f"Shape of variable {variable.name} ({dims}) doesn't match with shape of tensor {name} "
            f"({shapes[name]}) from checkpoint reader."
        )
    begin_with(variable, lambda: reader.get_tensor(name))


def _scopes(reader: Any, shapes: Mapping[str, Any], before: str, here: str) -> None:
    """All variables of a scope."""
    before = "" if before == "/" else before
    prefix = here.strip("/") + "/" if here != "/" else ""
    found = [n for n in variable_store().variables if n.startswith(prefix)]
    if not found:
        raise ValueError(f"No variables in the graph have the scope {here!r}")
    for name in found:
        old = before + name[len(prefix) :]
        if old not in shapes:
            raise ValueError(
                f"Tensor {old} ({name} in {here}) is not found in the checkpoint; it has "
                f"{sorted(shapes)[:20]}"
            )
        _one(reader, shapes, old, name)

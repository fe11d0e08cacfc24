"""`assign_from_checkpoint` and the like: variables from files and from arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.logging import warning
from byparts_frontend_tf.api.placeholder import placeholder
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.slim.variables import get_unique_variable
from byparts_tf_files.checkpoint_reader import new_checkpoint_reader


def _by_name(var_list: Any) -> dict[str, list[Any]]:
    """Name in the checkpoint -> variables."""
    if isinstance(var_list, Mapping):
        return {k: v if isinstance(v, list) else [v] for k, v in var_list.items()}
    return {v.op.name: [v] for v in var_list}


@symbol("contrib.framework.assign_from_values", "contrib.slim.assign_from_values")
def assign_from_values(var_names_to_values: Mapping[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns arrays to variables by name, and what to feed it."""
    pairs = [(get_unique_variable(name), a) for name, a in var_names_to_values.items()]
    return _assigned(pairs)


def _assigned(pairs: list[tuple[Any, Any]]) -> tuple[Any, dict[Any, Any]]:
    feeds, writes = {}, []
    for v, array in pairs:
        given = placeholder(v.dtype.base_dtype, v.get_shape())
        feeds[given] = np.asarray(array).reshape(v.get_shape().as_list())
        writes.append(v.assign(given))
    return group(*writes), feeds


@symbol("contrib.framework.assign_from_values_fn", "contrib.slim.assign_from_values_fn")
def assign_from_values_fn(var_names_to_values: Mapping[str, Any]) -> Callable[[Any], None]:
    """A function of a session that assigns arrays to variables."""
    op, feeds = assign_from_values(var_names_to_values)

    def assign(session: Any) -> None:
        session.run(op, feeds)

    return assign


@symbol("contrib.framework.assign_from_checkpoint", "contrib.slim.assign_from_checkpoint")
def assign_from_checkpoint(
    model_path: str, var_list: Any, ignore_missing_vars: bool = False
) -> tuple[Any, dict[Any, Any]]:
    """An operation that assigns what a checkpoint has to variables, and what to feed it.

    Args:
        model_path: of the checkpoint.
        var_list: variables, or name in the checkpoint -> variable.
        ignore_missing_vars: whether those that are not there are left as they are.

    Raises:
        ValueError: one is not there, or of another shape.
    """
    reader = new_checkpoint_reader(model_path)
    pairs: list[tuple[Any, Any]] = []
    for name, variables in _by_name(var_list).items():
        if not reader.has_tensor(name):
            if not ignore_missing_vars:
                raise ValueError(f"Checkpoint is missing variable [{name}]")
            warning("Variable %s missing in checkpoint %s", name, model_path)
            continue
        array = reader.get_tensor(name)
        for v in variables:
            if array.size != (v.get_shape().num_elements() or 0):
                raise ValueError(
                    f"Total size of new array must be unchanged for {name} lh_shape: "
                    f"[{array.shape}], rh_shape: [{v.get_shape()}]"
                )
            pairs.append((v, array))
    return _assigned(pairs)


@symbol("contrib.framework.assign_from_checkpoint_fn", "contrib.slim.assign_from_checkpoint_fn")
def assign_from_checkpoint_fn(
    model_path: str,
    var_list: Any,
    ignore_missing_vars: bool = False,
    reshape_variables: bool = False,
) -> Optional[Callable[[Any], None]]:
    """A function of a session that assigns what a checkpoint has to variables.

    `None` where nothing is to be assigned.

    Raises:
        ValueError: there are no variables.
    """
    if not var_list:
        raise ValueError("var_list cannot be empty")
    if ignore_missing_vars:
        reader = new_checkpoint_reader(model_path)
        names = var_list if isinstance(var_list, Mapping) else {v.op.name: v for v in var_list}
        var_list = {name: v for name, v in names.items() if reader.has_tensor(name)}
        for name in names.keys() - var_list.keys():
            warning("Variable %s missing in checkpoint %s", name, model_path)
    if not var_list:
        warning("No Variables to restore")
        return None
    saver = Saver(var_list, reshape=reshape_variables)
    return lambda session: saver.restore(session, model_path)

"""Switches between TensorFlow's modes: graphs and sessions are here, nothing of version 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn, Optional

from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.errors import NotFoundError


@symbol(
    *("disable_v2_behavior", "disable_eager_execution", "disable_v2_tensorshape"),
    *("disable_resource_variables", "disable_control_flow_v2", "disable_tensor_equality"),
    *("enable_resource_variables", "enable_control_flow_v2", "enable_tensor_equality"),
)
def disable_v2_behavior() -> None:
    """Nothing: there is only the first version's behaviour."""


@symbol("enable_eager_execution", "enable_v2_behavior", "contrib.eager.enable_eager_execution")
def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> NoReturn:
    """Refused.

    Raises:
        NotImplementedError: always.
    """
    raise NotImplementedError(
        "eager execution is not here: programs build a graph and run it in a tf.Session; "
        "leave this line out and fetch what you print by session.run"
    )


@symbol(
    *("executing_eagerly", "contrib.eager.executing_eagerly", "python.eager.context.in_eager_mode"),
    *("contrib.eager.in_eager_mode", "python.tf2.enabled"),
)
def executing_eagerly() -> bool:
    """False."""
    return False


@symbol("contrib.eager.in_graph_mode", "python.eager.context.in_graph_mode")
def in_graph_mode() -> bool:
    """True."""
    return True


@symbol("op_scope")
@contextmanager
def op_scope(values: Any, name: Optional[str], default_name: Optional[str] = None) -> Iterator[str]:
    """Open a `name_scope`; its arguments are in another order, the values first."""
    with name_scope(name, default_name, values) as scope:
        yield scope


@symbol("load_op_library", "load_library", "load_file_system_library")
def load_op_library(library_filename: Any) -> NoReturn:
    """Refused: it is compiled for TensorFlow.

    Raises:
        NotFoundError: always.
    """
    raise NotFoundError(
        None,
        None,
        f"{library_filename}: operations compiled for TensorFlow cannot be loaded here; write the "
        "operation with functions of tf, with tf.py_func, or as an op of byparts",
    )


SYMBOLS = {"contrib.eager.Variable": "api.variables.variables:Variable"}

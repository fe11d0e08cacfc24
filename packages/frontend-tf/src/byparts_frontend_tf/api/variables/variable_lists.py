"""Lists of variables, and operations that initialise them or say which are."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.identity import group, no_op
from byparts_frontend_tf.api.variables.updates import reference
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_, string


@symbol("global_variables")
def global_variables(scope: Optional[str] = None) -> list[Any]:
    """All variables but local ones."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@symbol("all_variables")
def all_variables() -> list[Any]:
    """All variables but local ones."""
    return global_variables()


@symbol("local_variables")
def local_variables(scope: Optional[str] = None) -> list[Any]:
    """Variables that are not saved: counters of metrics and readers."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@symbol("model_variables")
def model_variables(scope: Optional[str] = None) -> list[Any]:
    """Variables that layers made."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@symbol("trainable_variables")
def trainable_variables(scope: Optional[str] = None) -> list[Any]:
    """Variables that optimizers change by default, in the order in which they were made."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@symbol("moving_average_variables")
def moving_average_variables(scope: Optional[str] = None) -> list[Any]:
    """Variables that have moving averages."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_of(*tensors: Any) -> tuple[Any, ...]:
    """The variables that tensors depend on, in depth-first order.  O(operations)."""
    found: dict[Any, None] = {}
    seen: set[Operation] = set()
    todo: list[Operation] = [t.op for t in reversed(tensors)]
    while todo:
        op = todo.pop()
        if op not in seen:
            seen.add(op)
            variable = op.variable_object
            found.update({} if variable is None else {variable: None})
            todo += [t.op for t in reversed(op.inputs)]
    return tuple(found)


@symbol("variables_initializer", "initialize_variables", "initializers.variables")
def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """An operation that gives these variables their first values."""
    if not var_list:
        return no_op(name)
    return group(*[v.initializer for v in var_list], name=name)


@symbol("global_variables_initializer", "initialize_all_variables", "initializers.global_variables")
def global_variables_initializer() -> Operation:
    """An operation that gives all variables their first values."""
    return variables_initializer(global_variables())


@symbol("local_variables_initializer", "initialize_local_variables", "initializers.local_variables")
def local_variables_initializer() -> Operation:
    """An operation that gives local variables their first values."""
    return variables_initializer(local_variables())


def _is_initialized(lowering: Any, op: Operation) -> None:
    variables, variable = lowering.run.session.variables, op.inputs[0].variable
    lowering.call(op, lambda: variables.has(variable), (), [np.bool_])


_IS_INITIALIZED = Kind(
    "IsVariableInitialized",
    special=_is_initialized,
    shape=lambda i: (),
    dtype=bool_,
    gradient=False,
)


@symbol("is_variable_initialized")
def is_variable_initialized(ref: Any, name: Optional[str] = None) -> Tensor:
    """Whether a variable has a value."""
    return _IS_INITIALIZED(reference(ref), name=name)


def _uninitialized(lowering: Any, op: Operation) -> None:
    variables = lowering.run.session.variables
    keys = [t.variable for t in op.inputs]

    def names() -> Any:
        missing = [k.name.encode() for k in keys if not variables.has(k)]
        made = np.empty(len(missing), object)
        made[:] = missing
        return made

    lowering.call(op, names, (), [object])


_UNINITIALIZED = Kind(
    "ReportUninitialized",
    special=_uninitialized,
    shape=lambda inputs: (None,),
    dtype=string,
    gradient=False,
)


@symbol("report_uninitialized_variables")
def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of variables that have no value; by default of all."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    return _UNINITIALIZED(*[reference(v) for v in var_list], name=name)


@symbol("assert_variables_initialized")
def assert_variables_initialized(var_list: Any = None) -> Operation:
    """An operation that fails unless these variables have values."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    return group(*[v.read_value() for v in var_list])

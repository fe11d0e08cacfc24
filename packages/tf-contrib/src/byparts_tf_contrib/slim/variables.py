"""Variables of `contrib.framework` and `contrib.slim`: made by name, and found again."""

from __future__ import annotations

import re
from typing import Any, Optional

from byparts_frontend_tf.api.variables.scope_defaults import VariableScope
from byparts_frontend_tf.api.variables.variable_scope import get_variable
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import add_to_collection, device as on_device, get_collection
from byparts_frontend_tf.symbols import symbol
from byparts_tf_contrib.layers.arg_scope import add_arg_scope
from byparts_tf_files.dtypes import float32


@symbol("contrib.framework.variable", "contrib.slim.variable")
@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    **more: Any,
) -> Any:
    """A variable of this name, found or made; also in `collections`."""
    keys = list(dict.fromkeys([*(collections or [GraphKeys.GLOBAL_VARIABLES])]))
    with on_device(device or ""):
        return get_variable(
            name,
            shape,
            dtype or float32,
            initializer,
            regularizer,
            trainable,
            keys,
            partitioner=partitioner,
            custom_getter=custom_getter,
        )


@symbol("contrib.framework.model_variable", "contrib.slim.model_variable")
@add_arg_scope
def model_variable(
    name: str,
    shape: Any = None,
    dtype: Any = float32,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: Any = None,
    **more: Any,
) -> Any:
    """A variable of a model."""
    keys = [*(collections or ()), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(
        name, shape, dtype, initializer, regularizer, trainable, keys, device=device,
        partitioner=partitioner, custom_getter=custom_getter,
    )  # fmt: skip


@symbol("contrib.framework.local_variable", "contrib.slim.local_variable")
def local_variable(
    initial_value: Any, validate_shape: bool = True, name: Optional[str] = None,
    use_resource: Any = None,
) -> Any:  # fmt: skip
    """A variable that is neither trained nor saved."""
    return _plain(initial_value, validate_shape, name, [GraphKeys.LOCAL_VARIABLES])


@symbol("contrib.framework.global_variable", "contrib.slim.global_variable")
def global_variable(
    initial_value: Any, validate_shape: bool = True, name: Optional[str] = None,
    use_resource: Any = None,
) -> Any:  # fmt: skip
    """A variable that is not trained."""
    return _plain(initial_value, validate_shape, name, [GraphKeys.GLOBAL_VARIABLES])


def _plain(initial_value: Any, validate_shape: bool, name: Optional[str], keys: list[str]) -> Any:
    return Variable(
        initial_value, trainable=False, collections=keys, validate_shape=validate_shape, name=name
    )


@symbol("contrib.framework.add_model_variable", "contrib.slim.add_model_variable")
def add_model_variable(var: Any) -> None:
    """Count a variable among those of models."""
    if var not in get_collection(GraphKeys.MODEL_VARIABLES):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


@symbol("contrib.framework.get_variables", "contrib.slim.get_variables")
def get_variables(
    scope: Any = None, suffix: Optional[str] = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection in a scope, whose names end so."""
    if isinstance(scope, VariableScope):
        scope = scope.name
    if suffix is not None:
        scope = f"{scope or ''}.*{suffix if ':' in suffix else suffix + ':'}"
    return get_collection(collection, scope)


@symbol("contrib.framework.get_model_variables", "contrib.slim.get_model_variables")
def get_model_variables(scope: Any = None, suffix: Optional[str] = None) -> list[Any]:
    """The variables of models."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


@symbol("contrib.framework.get_local_variables", "contrib.slim.get_local_variables")
def get_local_variables(scope: Any = None, suffix: Optional[str] = None) -> list[Any]:
    """The variables that are not saved."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


@symbol("contrib.framework.get_trainable_variables", "contrib.slim.get_trainable_variables")
def get_trainable_variables(scope: Any = None, suffix: Optional[str] = None) -> list[Any]:
    """The variables that are trained."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


@symbol("contrib.framework.get_variables_by_suffix", "contrib.slim.get_variables_by_suffix")
def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end so."""
    return get_variables(scope, suffix)


@symbol("contrib.framework.get_variables_by_name", "contrib.slim.get_variables_by_name")
def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """The variables of this name, in whatever scope."""
    return get_variables(scope, f"/{given_name}:|^{given_name}:")


@symbol("contrib.framework.get_unique_variable", "contrib.slim.get_unique_variable")
def get_unique_variable(var_op_name: str) -> Any:
    """The variable of this full name.

    Raises:
        ValueError: there is none, or several.
    """
    found = [v for v in get_variables(var_op_name) if v.op.name == var_op_name]
    if not found:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    return found[0]


@symbol("contrib.framework.get_variable_full_name", "contrib.slim.get_variable_full_name")
def get_variable_full_name(var: Any) -> str:
    """The name of a variable in checkpoints."""
    name: str = var.op.name
    return name


@symbol(
    *("contrib.framework.get_variables_to_restore", "contrib.slim.get_variables_to_restore"),
    "contrib.framework.python.ops.variables.get_variables_to_restore",
)
def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Any]:
    """The variables of scopes (by default all) without those of other scopes.

    Raises:
        TypeError: no lists.
    """
    for given, what in ((include, "include"), (exclude, "exclude")):
        if given is not None and not isinstance(given, (list, tuple)):
            raise TypeError(f"{what} must be a list or tuple, and is {given!r}")
    wanted = get_variables() if include is None else [v for s in include for v in get_variables(s)]
    refused = [v for s in exclude or () for v in get_variables(s)]
    return [v for v in wanted if not any(v is other for other in refused)]


@symbol("contrib.framework.filter_variables", "contrib.slim.filter_variables")
def filter_variables(
    var_list: Any,
    include_patterns: Any = None,
    exclude_patterns: Any = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables whose names regular expressions find, without those that others find."""
    find = re.search if reg_search else re.match

    def found(patterns: Any, v: Any) -> bool:
        return any(find(p, v.op.name) for p in patterns)

    kept = [v for v in var_list if not include_patterns or found(include_patterns, v)]
    return [v for v in kept if not found(exclude_patterns or (), v)]

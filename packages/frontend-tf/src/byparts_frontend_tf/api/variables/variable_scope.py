"""`variable_scope` and `get_variable`: variables that are shared by name.

A scope has a part of the name of variables, and what they are made with unless they say otherwise.
Entering it opens a name scope, too, which is numbered: the variables of `with variable_scope("s")`
entered twice are `s/w`, what else is made the second time is `s_1/...`.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, Optional

from byparts_frontend_tf.api.variables.scope_defaults import VariableScope
from byparts_frontend_tf.api.variables.variable_store import AutoReuse, Reuse, variable_store
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import graph_of_values, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol

_SCOPE = "variable_scope"


@symbol("get_variable_scope")
def get_variable_scope() -> VariableScope:
    """The current scope."""
    kept = get_default_graph().kept
    found: VariableScope = kept.setdefault(_SCOPE, VariableScope(False))
    return found


@symbol("variable_scope")
class variable_scope:  # noqa: N801  # TensorFlow's name
    """Variables made inside have names in this scope, and its defaults.

    Args:
        name_or_scope: a name, in the current scope; or a scope to enter again.
        default_name: numbered; where there is no name.
        values: tensors whose graph is the default one inside.
        reuse: True: variables are found; AUTO_REUSE: found or made; inherited inside.
        auxiliary_name_scope: whether a name scope is opened, too.

    Raises:
        TypeError: there is no name.
        ValueError: `reuse` is none of these.
    """

    def __init__(
        self,
        name_or_scope: Any,
        default_name: Optional[str] = None,
        values: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        reuse: Reuse = None,
        dtype: Any = None,
        use_resource: Optional[bool] = None,
        constraint: Any = None,
        auxiliary_name_scope: bool = True,
    ) -> None:
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if not (reuse is None or isinstance(reuse, (bool, AutoReuse))):
            raise ValueError("The reuse parameter must be True or False or None.")
        if name_or_scope is None and reuse is True:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if not (name_or_scope is None or isinstance(name_or_scope, (str, VariableScope))):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        self._name_or_scope, self._default, self._values = name_or_scope, default_name, values
        self._reuse, self._auxiliary = reuse or None, auxiliary_name_scope
        self._given = {
            "initializer": initializer,
            "regularizer": regularizer,
            "caching_device": caching_device,
            "partitioner": partitioner,
            "custom_getter": custom_getter,
            "dtype": dtype,
            "use_resource": use_resource,
            "constraint": constraint,
        }
        self._open: list[tuple[ExitStack, VariableScope, str, Optional[dict[str, int]]]] = []

    def __enter__(self) -> VariableScope:
        stack = ExitStack()
        graph = graph_of_values(self._values)
        if graph is not get_default_graph():
            stack.enter_context(graph.as_default())
        before, given = get_variable_scope(), self._name_or_scope
        opened = variable_store().opened
        counts: Optional[dict[str, int]] = None
        if isinstance(given, VariableScope):
            counts = dict(opened)
            self._enter_names(stack, given.name.rpartition("/")[2])
            reuse = given.reuse if self._reuse is None else self._reuse
            scope = given.with_changes(given.name, reuse, given.original_name_scope, self._given)
        else:
            entered = self._enter_names(stack, self._default if given is None else given)
            last = _unique(before.name, self._default or "") if given is None else given
            name = f"{before.name}/{last}" if before.name and last else before.name or last
            scope = before.with_changes(name, self._reuse or before.reuse, entered, self._given)
        opened[scope.name] = opened.get(scope.name, 0) + 1
        graph.kept[_SCOPE] = scope
        self._open.append((stack, before, scope.name, counts))
        return scope

    def _enter_names(self, stack: ExitStack, name: Optional[str]) -> str:
        if not self._auxiliary:
            current = get_default_graph().get_name_scope()
            return stack.enter_context(name_scope(f"{current}/" if current else "", ""))
        return stack.enter_context(name_scope(name)) if name else ""

    def __exit__(self, *raised: Any) -> None:
        stack, before, name, counts = self._open.pop()
        graph, opened = get_default_graph(), variable_store().opened
        for key in opened:
            if key.startswith(f"{name}/"):
                opened[key] = 0
        if counts is not None:
            opened.clear()
            opened.update(counts)
        graph.kept[_SCOPE] = before
        stack.__exit__(*raised)


@symbol("python.ops.variable_scope._pure_variable_scope")
def pure_variable_scope(name_or_scope: Any, reuse: Reuse = None, **given: Any) -> variable_scope:
    """Open a `variable_scope` without a name scope."""
    return variable_scope(name_or_scope, reuse=reuse, auxiliary_name_scope=False, **given)


def _unique(scope: str, name: str) -> str:
    """`name`, numbered where a scope of this name was opened before."""
    opened, full = variable_store().opened, f"{scope}/{name}" if scope else name
    if not opened.get(full):
        return name
    number = 1
    while opened.get(f"{full}_{number}"):
        number += 1
    return f"{name}_{number}"


@symbol("get_variable")
def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: Optional[bool] = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Optional[bool] = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """The variable of this name in the current variable scope: made, or found where it is reused.

    Args:
        name: in the scope.
        shape: known wholly, unless it is found or the initializer is a value.
        dtype: by default that of the scope, float32.
        initializer: a value, or a function of shape and dtype; by default that of the scope, or
            uniform by Glorot and Bengio.
        regularizer: a function of the variable; what it gives is in REGULARIZATION_LOSSES.
        trainable: whether optimizers change it by default.
        collections: it is added to.
        caching_device: accepted.
        partitioner: accepted: variables are whole.
        validate_shape: whether its shape is that of the initial value.
        use_resource: accepted.
        custom_getter: is called with the function that makes it, and the arguments.
        constraint: a function of the variable that optimizers apply after an update.
        synchronization: accepted.
        aggregation: accepted.

    Raises:
        ValueError: it is there and not to be reused, or the other way; it is of another shape or
            dtype; or what is given does not say how to make it.
    """
    return get_variable_scope().get_variable(
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        custom_getter=custom_getter,
        trainable=trainable,
        collections=collections,
        caching_device=caching_device,
        partitioner=partitioner,
        validate_shape=validate_shape,
        use_resource=use_resource,
        constraint=constraint,
        synchronization=synchronization,
        aggregation=aggregation,
    )


@symbol("get_local_variable")
def get_local_variable(name: str, *arguments: Any, **given: Any) -> Any:
    """Get a variable as `get_variable` does; neither trained nor saved."""
    given.update(trainable=False)
    given["collections"] = [*(given.get("collections") or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, *arguments, **given)


@symbol("variable_op_scope")
def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: Any = None, **given: Any
) -> Any:
    """Open a `variable_scope`; its arguments are in another order, the values first."""
    return variable_scope(name_or_scope, default_name, values, **given)

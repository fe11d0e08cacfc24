"""`variable_scope` and `get_variable`: variables that are shared by name.

A scope has a part of the name of variables, and what they are made with unless they say otherwise.
Entering it opens a name scope, too, which is numbered: the variables of `with variable_scope("s")`
entered twice are `s/w`, what else is made the second time is `s_1/...`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Optional

from byparts_frontend_tf.api.variables.variable_store import AutoReuse, Reuse, variable_store
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.dtypes import as_dtype, float32
from byparts_frontend_tf.graph.scopes import get_collection, graph_of_values, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol

_INHERITED = (
    *("initializer", "regularizer", "caching_device", "partitioner", "custom_getter", "dtype"),
    *("use_resource", "constraint"),
)


@symbol("VariableScope")
class VariableScope:
    """Defaults of the variables made in a scope, and the first part of their names."""

    def __init__(
        self,
        reuse: Reuse,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Any = None,
        name_scope: str = "",
        dtype: Any = float32,
        use_resource: Optional[bool] = None,
        constraint: Any = None,
    ) -> None:
        self.reuse, self.name = reuse, name
        self.initializer, self.regularizer, self.caching_device = (
            initializer,
            regularizer,
            caching_device,
        )
        self.partitioner, self.custom_getter, self.dtype = partitioner, custom_getter, dtype
        self.use_resource, self.constraint = use_resource, constraint
        self.original_name_scope = name_scope

    def reuse_variables(self) -> None:
        """From now on find variables, and make none."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        """The default initializer."""
        self.initializer = initializer

    def set_regularizer(self, regularizer: Any) -> None:
        """The default regularizer."""
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        """Accepted."""
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        """Accepted: variables are whole."""
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Any) -> None:
        """What is called in place of the function that makes a variable."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """The default dtype."""
        self.dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Accepted."""
        self.use_resource = use_resource

    def get_collection(self, name: Any) -> list[Any]:
        """What is in a collection and has a name in this scope."""
        return get_collection(name, f"{self.name}/" if self.name else "")

    def trainable_variables(self) -> list[Any]:
        """Trainable variables of this scope."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        """Variables of this scope."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        """Local variables of this scope."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def with_changes(
        self, name: str, reuse: Reuse, scope: str, given: dict[str, Any]
    ) -> VariableScope:
        """A scope like this one, but for what is given."""
        made = VariableScope(reuse, name, name_scope=scope)
        for key in _INHERITED:
            value = given.get(key)
            inherited = getattr(self, key)
            if key == "custom_getter" and value is not None and inherited is not None:
                value = _chained(value, inherited)
            setattr(made, key, inherited if value is None else value)
        return made

    def get_variable(
        self,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Reuse = None,
        custom_getter: Any = None,
        **options: Any,
    ) -> Any:
        """As the function `get_variable`, in this scope."""
        full = f"{self.name}/{name}" if self.name else name
        with name_scope(None, ""):
            _check_dtype(full, dtype, initializer)
            given: dict[str, Any] = {
                "name": full,
                "shape": shape,
                "dtype": self.dtype if dtype is None else dtype,
                "initializer": self.initializer if initializer is None else initializer,
                "regularizer": self.regularizer if regularizer is None else regularizer,
                "reuse": self.reuse if reuse is None else reuse,
                **options,
            }
            if given.get("trainable") is None:
                given["trainable"] = True
            if given.get("constraint") is None:
                given["constraint"] = self.constraint
            if given.get("use_resource") is None:
                given["use_resource"] = self.use_resource
            getter = self.custom_getter if custom_getter is None else custom_getter
            return _true_getter(**given) if getter is None else getter(_true_getter, **given)


def _check_dtype(name: str, dtype: Any, initializer: Any) -> None:
    if dtype is None or initializer is None or callable(initializer):
        return
    found = convert_to_tensor(initializer).dtype.base_dtype
    if found is not as_dtype(dtype).base_dtype:
        raise ValueError(
            f"Initializer type '{found.name}' and explicit dtype '{as_dtype(dtype).name}' of "
            f"variable {name} don't match."
        )


def _true_getter(
    name: str,
    shape: Any = None,
    dtype: Any = float32,
    initializer: Any = None,
    regularizer: Any = None,
    reuse: Reuse = None,
    trainable: Optional[bool] = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Optional[bool] = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Any:
    """Make or find a variable by its full name."""
    return variable_store().get(
        name,
        shape,
        dtype,
        initializer,
        reuse,
        regularizer,
        trainable=trainable,
        collections=collections,
        validate_shape=validate_shape,
        use_resource=use_resource,
        constraint=constraint,
    )


def _chained(inner: Callable[..., Any], outer: Callable[..., Any]) -> Callable[..., Any]:
    """A custom getter inside another one."""

    def getter(true_getter: Any, *arguments: Any, **given: Any) -> Any:
        def through(*a: Any, **g: Any) -> Any:
            return outer(true_getter, *a, **g)

        return inner(through, *arguments, **given)

    return getter


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
    """As `get_variable`, of a variable that is neither trained nor saved."""
    given.update(trainable=False)
    given["collections"] = [*(given.get("collections") or ()), GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, *arguments, **given)


@symbol("variable_op_scope")
def variable_op_scope(
    values: Any, name_or_scope: Any, default_name: Any = None, **given: Any
) -> Any:
    """As `variable_scope`, with the arguments in another order."""
    return variable_scope(name_or_scope, default_name, values, **given)

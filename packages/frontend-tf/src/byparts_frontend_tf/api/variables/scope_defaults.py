"""`VariableScope`: what it gives to variables that are made in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.variables.variable_store import Reuse, variable_store
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.scopes import get_collection, name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype, float32

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
        """Set the function that is called in place of the one that makes a variable."""
        self.custom_getter = custom_getter

    def set_dtype(self, dtype: Any) -> None:
        """The default dtype."""
        self.dtype = dtype

    def set_use_resource(self, use_resource: bool) -> None:
        """Accepted."""
        self.use_resource = use_resource

    def get_collection(self, name: Any) -> list[Any]:
        """Members of a collection that have a name in this scope."""
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
        """Get or make a variable as the function `get_variable` does, in this scope."""
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

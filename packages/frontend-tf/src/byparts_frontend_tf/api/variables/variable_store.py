"""Variables that are found by name: what `get_variable` makes or finds."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import colocate_with, name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype
from byparts_tf_files.shape import Dims, as_dims, fits, is_static, shown


class AutoReuse:
    """`tf.AUTO_REUSE`: a variable is found, or made where there is none."""

    def __repr__(self) -> str:
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = AutoReuse()
Reuse = Any  # True, False, None or AUTO_REUSE


class VariableStore:
    """The variables of a graph that `get_variable` made, and how often each scope was opened."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.opened: dict[str, int] = {}

    def get(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        initializer: Any,
        reuse: Reuse,
        regularizer: Any = None,
        **options: Any,
    ) -> Any:
        """The variable of this name.

        Raises:
            ValueError: it is there and not to be reused, or the other way; it is of another shape
                or dtype; or what is given does not say how to make it.
        """
        from_value = initializer is not None and not callable(initializer)
        if shape is not None and from_value:
            raise ValueError("If initializer is a constant, do not specify shape.")
        dtype, dims = as_dtype(dtype), as_dims(shape)
        if name in self.variables:
            return self._found(name, dims, dtype, reuse)
        if reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did "
                "you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer = _default_initializer(name, dtype)
        first, wanted = _first_value(name, initializer, dims, dtype, from_value)
        made = Variable(first, name=name, dtype=wanted, **options)
        self.variables[name] = made
        if regularizer:  # an empty dict is none
            _regularize(made, name, regularizer)
        return made

    def _found(self, name: str, dims: Dims, dtype: DType, reuse: Reuse) -> Variable:
        found = self.variables[name]
        if not reuse:
            raise ValueError(
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                f"reuse=tf.AUTO_REUSE in VarScope? Originally defined at:\n\n{found.op.where}"
            )
        if not fits(dims, found._variable.dims):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shown(dims)} and found "
                f"shape {shown(found._variable.dims)}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found "
                f"dtype {found.dtype.name}."
            )
        return found


def _default_initializer(name: str, dtype: DType) -> Any:
    from byparts_frontend_tf.api.initializers import GlorotUniform, Zeros  # of few variables

    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool:
        return Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype.name} is required")


def _first_value(
    name: str, initializer: Any, dims: Dims, dtype: DType, from_value: bool
) -> tuple[Any, Optional[DType]]:
    """The initial value or a function that makes it, and the dtype to convert it to."""
    if from_value:
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if dims is not None and is_static(dims):
        shape: list[Any] = list(dims)
        return _calling(initializer, shape, dtype), dtype.base_dtype
    if dims is None and _takes_nothing(initializer):
        return initializer, None
    raise ValueError(
        f"Shape of a new variable ({name}) must be fully defined, but instead was {shown(dims)}."
    )


def _calling(initializer: Callable[..., Any], shape: list[Any], dtype: DType) -> Callable[[], Any]:
    def make() -> Any:
        return initializer(shape, dtype=dtype)

    return make


def _takes_nothing(initializer: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(initializer).parameters.values()
    except (TypeError, ValueError):
        return False
    return not [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]


def _regularize(variable: Variable, name: str, regularizer: Any) -> None:
    with colocate_with(variable), name_scope(f"{name}/Regularizer/"):
        loss = regularizer(variable)
    if loss is not None:
        get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def variable_store() -> VariableStore:
    """The variable store of the default graph."""
    found: VariableStore = get_default_graph().kept.setdefault(VariableStore, VariableStore())
    return found


@symbol("no_regularizer")
def no_regularizer(_: Any) -> None:
    """Regularize nothing, whatever the scope says."""
    return None


SYMBOLS = {"AUTO_REUSE": "AUTO_REUSE"}

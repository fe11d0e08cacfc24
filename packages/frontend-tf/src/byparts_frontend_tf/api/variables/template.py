"""`make_template`: a function whose variables are made in its first call, and found in others."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Optional

from byparts_frontend_tf.api.variables.scope_defaults import VariableScope
from byparts_frontend_tf.api.variables.variable_scope import variable_scope
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import get_collection
from byparts_frontend_tf.symbols import symbol


@symbol("make_template")
def make_template(
    name_: str,
    func_: Callable[..., Any],
    create_scope_now_: bool = False,
    unique_name_: Optional[str] = None,
    custom_getter_: Any = None,
    **kwargs: Any,
) -> Template:
    """A function like `func_` that shares its variables between calls.

    Args:
        name_: of the scope of its variables; numbered.
        func_: makes variables by `get_variable`.
        create_scope_now_: whether the scope is that of now, or of the first call.
        unique_name_: the name of the scope, not numbered.
        custom_getter_: of the scope.
        kwargs: are given to `func_`.
    """
    function = partial(func_, **kwargs) if kwargs else func_
    return Template(name_, function, create_scope_now_, unique_name_, custom_getter_)


class Template:
    """A function that uses the same variables in each call, as `make_template` gives it."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        now: bool,
        unique_name: Optional[str],
        custom_getter: Any,
    ) -> None:
        if name is None:
            raise ValueError("name cannot be None.")
        self._name, self._function, self._unique = name, function, unique_name
        self._getter, self._called = custom_getter, False
        self._scope: Optional[VariableScope] = None
        if now:
            with variable_scope(
                unique_name, name, custom_getter=custom_getter, auxiliary_name_scope=False
            ) as scope:
                self._scope = scope

    def __call__(self, *arguments: Any, **given: Any) -> Any:
        """Call the function in its scope.

        Raises:
            ValueError: a later call makes a variable that is trained.
        """
        if self._scope is None:
            with variable_scope(self._unique, self._name, custom_getter=self._getter) as scope:
                self._scope = scope
                return self._call(*arguments, **given)
        with variable_scope(self._scope, reuse=True if self._called else None):
            return self._call(*arguments, **given)

    def _call(self, *arguments: Any, **given: Any) -> Any:
        before = len(get_collection(GraphKeys.TRAINABLE_VARIABLES))
        made = self._function(*arguments, **given)
        new = get_collection(GraphKeys.TRAINABLE_VARIABLES)[before:]
        if self._called and new:
            raise ValueError(
                "Trainable variable created when calling a template after the first time, perhaps "
                f"you used tf.Variable when you meant tf.get_variable: {new}"
            )
        self._called = True
        return made

    @property
    def name(self) -> str:
        """Name of the template, as it was given."""
        return self._name

    @property
    def func(self) -> Callable[..., Any]:
        """The function."""
        return self._function

    @property
    def variable_scope(self) -> Optional[VariableScope]:
        """The scope of its variables, when there is one."""
        return self._scope

    @property
    def var_scope(self) -> Optional[VariableScope]:
        """The same."""
        return self._scope

    @property
    def variable_scope_name(self) -> Optional[str]:
        """The name of this scope."""
        return None if self._scope is None else self._scope.name

    @property
    def variables(self) -> list[Any]:
        """Variables of the template, global and local."""
        return [*self.global_variables, *self.local_variables]

    @property
    def trainable_variables(self) -> list[Any]:
        """Variables of the template that are trained."""
        return self._of(GraphKeys.TRAINABLE_VARIABLES)

    @property
    def trainable_weights(self) -> list[Any]:
        """The same."""
        return self.trainable_variables

    @property
    def global_variables(self) -> list[Any]:
        """Global variables of the template."""
        return self._of(GraphKeys.GLOBAL_VARIABLES)

    @property
    def local_variables(self) -> list[Any]:
        """Local variables of the template."""
        return self._of(GraphKeys.LOCAL_VARIABLES)

    def _of(self, key: str) -> list[Any]:
        return [] if self._scope is None else self._scope.get_collection(key)

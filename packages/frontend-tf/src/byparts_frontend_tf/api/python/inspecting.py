"""`tensorflow.python.util`: modules that are imported late, and marks of what is exported."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from byparts_frontend_tf.symbols import F, symbol


@symbol("python.util.tf_export.tf_export", "python.util.deprecation.deprecated_alias")
def unchanged(*names: Any, **named: Any) -> Callable[[F], F]:
    """A decorator that gives what it is given."""
    return lambda decorated: decorated


@symbol("python.keras.utils.tf_utils.register_symbolic_tensor_type")
def register_symbolic_tensor_type(cls: type) -> None:
    """Accepted: whatever converts to a tensor is an input of a layer."""


@symbol("python.util.lazy_loader.LazyLoader")
class LazyLoader(ModuleType):
    """A module that is imported when something of it is first used.

    Args:
        local_name: its name in `parent_module_globals`.
        parent_module_globals: of the module that imports it.
        name: as of `import`.
    """

    def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str) -> None:
        self._local_name, self._globals = local_name, parent_module_globals
        super().__init__(name)

    def __getattr__(self, item: str) -> Any:
        module = import_module(self.__name__)
        self._globals[self._local_name] = module
        return getattr(module, item)

"""A package whose public names are imported when they are first used (PEP 562).

    if TYPE_CHECKING:
        from byparts_graph_ir.backend.table import Table as Table  # type checkers and editors

    if not TYPE_CHECKING:
        __all__ = lazy_names(__name__, errors="GraphError", **{"backend.table": "Table"})  # runs

`import byparts_opset` then costs no module of ops, and a program that multiplies matrices loads no
convolution.  A test keeps the two lists equal: `stated_names` reads the first.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType
    from typing import Any
else:
    ModuleType = type(sys)


class _Package(ModuleType):
    """A module that knows in which of its own modules a name lives."""

    def __getattr__(self, name: str) -> Any:
        home = self.__dict__["_homes"].get(name) or self.__dict__["_left_out"].get(name)
        if home is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        full = f"{self.__name__}.{home}"
        _import(full)
        value = self.__dict__[name] = self._public(getattr(sys.modules[full], name))
        return value

    def __setattr__(self, name: str, value: object) -> None:
        # Python sets a package's attribute `cast` when it has imported its module cast.py; where
        # a public name is called so too, it stays that name.
        if isinstance(value, ModuleType) and self.__dict__["_homes"].get(name) == name:
            value = self._public(getattr(value, name))
        super().__setattr__(name, value)

    def _public(self, value: Any) -> Any:
        """Return `value`; if the package is `checked`, a function that checks its arguments."""
        if not (self.__dict__["_checked"] and type(value) is type(lazy_names)):
            return value
        from byparts_graph_ir.contract import checked  # imports modules that are imported by name

        return checked(value, self.__name__)

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__["_homes"]})


def _import(module: str) -> None:
    from byparts_graph_ir.fork import begin, end  # not for `import byparts_graph_ir`

    try:
        begin(module)
        __import__(module)
    finally:
        end(module)


def lazy_names(
    package: str,
    /,
    left_out: Mapping[str, str] | None = None,
    checked: bool = False,
    **modules: str,
) -> list[str]:
    """Give a package these names, listed after the module that each lives in; `__all__` for it.

    `left_out`: those that a wheel for devices is without; asking for one raises `LeftOut`.  With
    `checked`, its functions check their arguments (`contract.py`) when they are called by these
    names; modules that import one another's functions call them unchecked.
    """
    homes, gone = (
        {name: module for module, names in table.items() for name in names.split()}
        for table in (modules, left_out or {})
    )
    this = sys.modules[package]
    this.__dict__.update(_homes=homes, _left_out=gone, _checked=checked)
    this.__class__ = _Package
    return list(homes)


def homes(package: str) -> dict[str, str]:
    """Public name -> the module of the package that it lives in, in reading order."""
    modules: dict[str, str] = vars(sys.modules[package])["_homes"]
    return modules

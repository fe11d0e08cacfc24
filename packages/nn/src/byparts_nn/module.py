"""Modules: plain classes whose fields may be parameters and other modules.

    class Hidden(Module):
        def __init__(self, units):
            self.weight = Parameter((None, units), he())

        def __call__(self, x):
            return ops.relu(x @ self.weight)

A field that is assigned a `Parameter` (or any `Cell`) reads as its value, and assigning to it is an
update, also within a compiled function.  Modules are found in fields, lists, tuples and dicts; one
that stands in two places is one, with the path of the first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar

from byparts_eager import Array, Cell, changed, depends_on
from byparts_graph_ir import GraphError, Value
from byparts_graph_ir.contract import checked
from byparts_nn.calls import called
from byparts_nn.fields import content, parts_of, tracked
from byparts_nn.parameter import Parameter
from byparts_nn.select import Where, chosen


class Module:
    """A function with state: define `__init__`, which declares fields, and `__call__`."""

    # Fields that are how a module works, not what it computes.
    hidden_fields: ClassVar[frozenset[str]] = frozenset({"_cells", "_ready"})
    if TYPE_CHECKING:
        __call__: Callable[..., Any]  # each subclass has its own

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name, method in list(vars(cls).items()):
            if name == "__call__":
                setattr(cls, name, called(method))
            elif name == "__init__" and cls.__module__.startswith("byparts_nn."):
                setattr(cls, name, checked(method))
            elif isinstance(method, FunctionType) and name[:2] != "__" and name not in vars(Module):
                setattr(cls, name, _depending(method))

    # ---- fields ---------------------------------------------------------------------------------

    def __setattr__(self, name: str, new: Any) -> None:
        if name in vars(Module):
            raise GraphError(
                f"{type(self).__name__}.{name}: every module has a method {name!r}; "
                "give the field another name"
            )
        cells = self.__dict__.setdefault("_cells", {})
        if isinstance(new, Cell):
            self.__dict__.pop(name, None)
            cells[name], new.name = new, new.name or name
        elif name in cells:
            cells[name].value = new
            return
        else:
            if isinstance(new, Value) and not isinstance(new, Array):
                raise GraphError(
                    f"{type(self).__name__}.{name} would keep a value of a function that is being "
                    f"traced, {new.type}; declare the field in __init__ as a Cell of that type"
                )
            if name in self.__dict__ and content(self.__dict__[name]) == content(new):
                return  # nothing that was compiled is out of date
            self.__dict__[name] = tracked(new)
        self.__dict__.pop("_ready", None)
        changed()

    def __getattr__(self, name: str) -> Any:
        try:
            cell = self.__dict__["_cells"][name]
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None
        return cell.value

    def __delattr__(self, name: str) -> None:
        if self.__dict__.get("_cells", {}).pop(name, None) is None:
            super().__delattr__(name)
        changed()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.__dict__.get("_cells", {})]

    def cell(self, name: str) -> Cell:
        """The cell of a field: assigned to a field of another module, both share it.

        Raises:
            GraphError: the field is no cell.
        """
        cell = self.__dict__.get("_cells", {}).get(name)
        if not isinstance(cell, Cell):
            raise GraphError(f"{type(self).__name__}.{name} is no parameter and no other cell")
        return cell

    # ---- what is in it --------------------------------------------------------------------------

    def parts(self) -> Iterator[tuple[str, Any]]:
        """(path, thing) of the fields, cells first, and of what stands in their lists and dicts."""
        yield from self.__dict__.get("_cells", {}).items()
        for name, value in list(self.__dict__.items()):
            if name not in self.hidden_fields:
                yield from parts_of(name, value)

    def modules(self) -> Iterator[tuple[str, Module]]:
        """(path, module): this one first, with the path "", then those inside; each once."""
        seen, waiting = set[int](), [("", self)]
        while waiting:
            path, module = waiting.pop()
            if id(module) not in seen:
                seen.add(id(module))
                yield path, module
                inside = [(f"{path}.{k}" if path else k, m) for k, m in module.parts()]
                waiting += [(k, m) for k, m in reversed(inside) if isinstance(m, Module)]

    def cells(self) -> dict[str, Cell]:
        """All state by path, each cell once: parameters, statistics, counters of random layers."""
        found = dict[Cell, str]()
        for path, module in self.modules():
            for name, thing in module.parts():
                cells = {"": thing} if isinstance(thing, Cell) else {}
                if hasattr(thing, "cells") and not isinstance(thing, Module):
                    cells = thing.cells()
                for inner, cell in cells.items():
                    found.setdefault(cell, ".".join(filter(None, (path, name, inner))))
        for cell, path in found.items():
            if path.count(".") >= cell.name.count("."):
                cell.name = path  # the longest: that in the whole model
        return {path: cell for cell, path in found.items()}

    def parameters(self, where: Where | None = None) -> dict[str, Cell]:
        """The cells that are made to be trained, frozen ones too, by path.

        Args:
            where: a regular expression that is searched for in the path, or a function of path and
                cell; all by default.
        """
        cells = {path: c for path, c in self.cells().items() if isinstance(c, Parameter)}
        return {path: c for path, c in cells.items() if chosen(where, path, c)}

    def freeze(self, where: Where | None = None) -> None:
        """Give parameters no gradient; which, as for `parameters`."""
        for cell in self.parameters(where).values():
            cell.trainable = False

    def unfreeze(self, where: Where | None = None) -> None:
        """Give parameters a gradient again."""
        for cell in self.parameters(where).values():
            cell.trainable = True

    def fingerprint(self) -> Hashable:
        """Everything but numbers in cells that a compiled call depends on."""
        return tuple((path, id(type(module)), *_own(module)) for path, module in self.modules())

    def __repr__(self) -> str:
        inside = [f"{path}: {type(m).__name__}" for path, m in self.modules() if path]
        return f"{type(self).__name__}({', '.join(inside)})"


def _own(module: Module) -> Iterator[Hashable]:
    """The fields of a module, those of the modules in it apart."""
    for name, cell in module.__dict__.get("_cells", {}).items():
        yield name, content(cell)
    for name, value in module.__dict__.items():
        if name not in module.hidden_fields:
            yield name, content(value)


def _depending(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a module; a function that is compiled and calls it depends on the module."""

    @functools.wraps(method)
    def run(self: Module, *args: Any, **keywords: Any) -> Any:
        depends_on(self)
        return method(self, *args, **keywords)

    return run

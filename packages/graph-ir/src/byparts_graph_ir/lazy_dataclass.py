"""The decorator form of `Frozen`, for classes that do not derive from it yet."""

from __future__ import annotations

from byparts_graph_ir.model.frozen import (
    Frozen,
    define,
    field_annotations as field_annotations,
    field_defaults as field_defaults,
    field_names as field_names,
    frozen_delattr as frozen_delattr,
    frozen_setattr as frozen_setattr,
    replace as replace,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from typing import Any
else:

    def dataclass(cls: Any = None, /, *, frozen: bool, eq: bool = True) -> Any:
        """`dataclasses.dataclass`, whose methods are those of `Frozen`."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq)
        methods = ("__setattr__", "__delattr__", "__repr__", *(("__eq__", "__hash__") * eq))
        for name in methods:
            if vars(cls).get(name) is None:
                setattr(cls, name, vars(Frozen)[name])
        cls.__dataclass_params__ = Frozen.__dataclass_params__
        define(cls)
        return cls

"""`mx.sym`: variables, and a function for each op of the table."""

from __future__ import annotations

from functools import partial
from typing import Any

from byparts_frontend_mxnet.errors import unknown
from byparts_frontend_mxnet.ops import table
from byparts_frontend_mxnet.ops.elementwise import OPERATORS
from byparts_frontend_mxnet.symbol import infer  # noqa: F401  # it gives symbols their shapes
from byparts_frontend_mxnet.symbol.symbol import (
    Symbol,
    apply,
    group as Group,  # noqa: N812  # as MXNet spells it
    load,
    load_json,
    variable as Variable,  # noqa: N812
)

var, Custom = Variable, partial(apply, "Custom")


def _of_two(op: str) -> Any:
    """The function of two symbols, or of a symbol and a number on either side."""
    arrays, number, reflected = OPERATORS[op]

    def function(left: Any, right: Any, **keywords: Any) -> Any:
        if isinstance(left, Symbol) and isinstance(right, Symbol):
            return apply(arrays, left, right, hint=f"_{op}", **keywords)
        if isinstance(left, Symbol):
            return apply(number, left, scalar=float(right), **keywords)
        return apply(reflected, right, scalar=float(left), **keywords)

    return function


maximum, minimum, hypot = _of_two("maximum"), _of_two("minimum"), _of_two("hypot")
pow = power = _of_two("power")


class _Prefixed:
    """Ops whose names begin alike: `sym.random.uniform` is the op `_random_uniform`."""

    def __init__(self, *prefixes: str) -> None:
        self._prefixes = prefixes

    def __getattr__(self, name: str) -> Any:
        for prefix in self._prefixes:
            if prefix + name in table and not name.startswith("_"):
                return partial(apply, prefix + name)
        raise unknown("mx.sym", name, [*table, "Variable", "Group", "load", "load_json"])


random, contrib = _Prefixed("_random_", "_sample_"), _Prefixed("_contrib_", "")
linalg, _here = _Prefixed("linalg_"), _Prefixed("", "_")


def __getattr__(name: str) -> Any:
    """The function of an op; of `_zeros` and others also without the line before its name."""
    if name in table:
        return partial(apply, name)
    return getattr(_here, name)


__all__ = ["Group", "Symbol", "Variable", "load", "load_json", "var"]

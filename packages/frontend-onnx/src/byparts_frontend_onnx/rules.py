"""The table of rules for operators of ONNX, to which other distributions may add.

A rule takes the node and its inputs, in order, `None` for one that is left out, and gives a value,
or a tuple with one for each output.  One rule holds all versions of its operator
(`node.version`).  Attributes that a node does not say have the defaults of the operator's schema.

    @rules.on("acme:Snake")
    def snake(node, x):
        return x + ops.sin(x * node.get("a", 1.0)) ** 2

Inputs come as values.  Those at the places `known` come as arrays of numbers, or as `Sizes` where
they are computed from the sizes of inputs: axes, targets of reshapes.  A rule with `raw=True` gets
whatever there is: values, arrays, sizes, lists (sequences).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from byparts_graph_ir import GraphError


@dataclass(frozen=True)
class Rule:
    """Rule for an operator.

    Attributes:
        function: takes the node and its inputs.
        known: places of inputs that must be numbers when the model is read.
        raw: whether inputs come as they are.
    """

    function: Callable[..., Any]
    known: tuple[int, ...] = ()
    raw: bool = False


class Rules:
    """Operator ("Add", "com.microsoft:Gelu") -> rule.

    Args:
        others: rules for what this table has none for; the table may have one that differs.
    """

    def __init__(self, others: Rules | None = None) -> None:
        self._rules: dict[str, Rule] = {}
        self._others: Rules | tuple[()] = () if others is None else others

    def on(
        self, *names: str, known: tuple[int, ...] = (), raw: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Decorator: register one rule for these operators.

        Raises:
            GraphError: an operator has a rule in this table already; names both.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            for name in names:
                if name in self._rules:
                    old = self._rules[name].function
                    raise GraphError(f"{name} already has a rule: {_place(old)}; second: "
                                     f"{_place(function)}")  # fmt: skip
                self._rules[name] = Rule(function, known, raw)
            return function

        return register

    def get(self, name: str) -> Rule | None:
        """The rule for an operator, or `None`."""
        rule = self._rules.get(name)
        return self._others.get(name) if rule is None and self._others else rule

    def __contains__(self, name: object) -> bool:
        return name in self._rules or name in self._others

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._others, *self._rules)))

    def __len__(self) -> int:
        return len(list(iter(self)))


rules = Rules()


def _place(function: Callable[..., Any]) -> str:
    code = getattr(function, "__code__", None)
    where = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return f"{getattr(function, '__qualname__', function)}{where}"

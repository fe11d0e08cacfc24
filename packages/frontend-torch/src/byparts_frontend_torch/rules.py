"""The table of rules for ops of torch, to which other distributions may add.

A rule takes what the op takes, in the order and under the names of its schema, and gives a value,
or a tuple with one for each output (`None`: an output that we cannot give).

    @rules.on("mylib.snake.default")
    def snake(x, a=1.0):
        return x + ops.sin(x * a) ** 2 / a

Tensors come as values, dtypes as our names, sizes as numbers, as the name of a symbol where the
export left them open, or as an `Expression` of symbols.  `device`, `layout`, `pin_memory` and
`memory_format` do not come: they say where numbers stand, not which.  An op that has a rule is kept
out of torch's decompositions, so a rule for a composite op is all that it takes to import it whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from byparts_graph_ir import GraphError

Rule = Callable[..., Any]

_NAME = re.compile(r"\w+\.\w+\.\w+")


class Rules:
    """Full name of an overload ("aten.add.Tensor") -> rule.

    Args:
        others: rules for what this table has none for; the table may have one that differs.
    """

    def __init__(self, others: Rules | None = None) -> None:
        self._rules: dict[str, Rule] = {}
        self._others: Rules | tuple[()] = () if others is None else others

    def on(self, *names: str) -> Callable[[Rule], Rule]:
        """Decorator: register one rule for these overloads.

        Raises:
            GraphError: a name is not "namespace.op.overload", or has a rule already.
        """
        for name in names:
            if not _NAME.fullmatch(name):
                raise GraphError(f"{name!r} is no overload; write it as in 'aten.add.Tensor'")

        def register(rule: Rule) -> Rule:
            for name in names:
                if name in self._rules and not _is_cell_again(self._rules[name], rule):
                    old, new = _place(self._rules[name]), _place(rule)
                    raise GraphError(f"{name} already has a rule: {old}; second: {new}")
                self._rules[name] = rule
            return rule

        return register

    def get(self, name: str) -> Rule | None:
        """The rule for an overload, or `None`."""
        rule = self._rules.get(name)
        return self._others.get(name) if rule is None and self._others else rule

    def __contains__(self, name: object) -> bool:
        return name in self._rules or name in self._others

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._others, *self._rules)))

    def __len__(self) -> int:
        return len(list(iter(self)))


rules = Rules()


def _is_cell_again(old: Rule, new: Rule) -> bool:
    """Whether somebody at a prompt, or in a notebook, has written a function anew."""
    names = [(getattr(r, "__module__", ""), getattr(r, "__qualname__", "")) for r in (old, new)]
    return names[0] == names[1] and names[0][0] == "__main__"


def _place(rule: Rule) -> str:
    code = getattr(rule, "__code__", None)
    if code is None:
        return repr(rule)
    return f"{getattr(rule, '__qualname__', rule)} ({code.co_filename}:{code.co_firstlineno})"

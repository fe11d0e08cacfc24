"""What one package knows about each op: the only registry there is.

`kernels.on(Tanh)` adds a rule, `kernels[op]` finds it.  Registering twice is an error that names
both places; a missing rule is an error that says which line to write.
"""

from __future__ import annotations

from byparts_graph_ir.errors import GraphError, MissingRule
from byparts_graph_ir.graph import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Generic, TypeVar

    R = TypeVar("R")
else:  # `Table[Rule]` means nothing when it runs
    R, Generic = None, {None: object}


class Table(Generic[R]):
    """Op class -> rule.  Look-ups are exact: a subclass of an op does not inherit its rule."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._rules: dict[type[Op], R] = {}

    def on(self, *ops: type[Op]) -> Callable[[R], R]:
        """Decorator: register one rule for these ops.

        Raises:
            GraphError: an op already has a rule here.
        """

        def register(rule: R) -> R:
            for op in ops:
                if op in self._rules:
                    old, new = _place(self._rules[op]), _place(rule)
                    raise GraphError(
                        f"{op.__name__} already has a {self.what}: {old}; second: {new}"
                    )
                self._rules[op] = rule
            return rule

        return register

    def get(self, op: Op | type[Op]) -> R | None:
        """The rule for an op, or `None`."""
        return self._rules.get(op if isinstance(op, type) else type(op))

    def __getitem__(self, op: Op | type[Op]) -> R:
        rule = self.get(op)
        if rule is None:
            name = op.__name__ if isinstance(op, type) else type(op).__name__
            raise MissingRule(f"no {self.what} for {name}; add one with @{self.what}s.on({name})")
        return rule

    def __contains__(self, op: object) -> bool:
        return (op if isinstance(op, type) else type(op)) in self._rules

    def __iter__(self) -> Iterator[type[Op]]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


def _place(rule: object) -> str:
    code = getattr(rule, "__code__", None)
    if code is None:
        return repr(rule)
    return f"{getattr(rule, '__qualname__', rule)} ({code.co_filename}:{code.co_firstlineno})"

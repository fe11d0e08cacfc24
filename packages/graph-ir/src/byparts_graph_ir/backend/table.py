"""Tables of what one package knows about each op: the only registry there is.

`kernels.on(Tanh)` adds a rule, `kernels[op]` finds it.  Registering twice is an error that names
both places; a missing rule is an error that says which line to write.

A package with many rules says in which of its modules those for which ops are, and a module is
imported when one of its ops is asked for:

    kernels = Table.lazily("kernel", "acme_npu", "byparts_opset", unary="unary hyperbolic")
"""

from __future__ import annotations

import sys

from byparts_graph_ir.errors import GraphError, MissingRule
from byparts_graph_ir.fork import begin, end
from byparts_graph_ir.model.op import Op

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Generic, TypeVar

    R = TypeVar("R")
else:  # `Table[Rule]` means nothing when it runs
    R, Generic = None, {None: object}


class Table(Generic[R]):
    """Op class -> rule.  Look-ups are exact: a subclass of an op does not inherit its rule."""

    def __init__(self, what: str) -> None:
        self.what = what
        self._rules: dict[type[Op], R] = {}
        self._package = ""
        self._homes: dict[str, list[str]] = {}  # module of ops -> modules with rules for them
        self._waiting: dict[str, None] = {}  # modules of ops whose rules are not imported yet
        self._with_workspace: set[type[Op]] = set()
        self._compiled: set[type[Op]] = set()
        self._symbolic: set[type[Op]] = set()

    @classmethod
    def lazily(cls, what: str, package: str, ops_package: str, /, **modules: str) -> Table[R]:
        """A table whose rules stand in modules of `package`, each with the modules of its ops.

        Modules of ops in `ops_package` by their last name, others by their full one.
        """
        table = cls(what)
        table._package = f"{package}."
        for module, names in modules.items():
            for name in names.split():
                ops_module = name if "." in name else f"{ops_package}.{name}"
                table._homes.setdefault(ops_module, []).append(f"{package}.{module}")
        table._waiting = dict.fromkeys(table._homes)
        return table

    def look_in(self, module: str, ops_modules: Sequence[str]) -> None:
        """Import `module`, which registers rules here, when an op of `ops_modules` is asked for."""
        for name in ops_modules:
            modules = self._homes.setdefault(name, [])
            if module not in modules:
                modules.append(module)
                self._waiting[name] = None

    if not TYPE_CHECKING:

        def __class_getitem__(cls, rule):
            return cls

    def on(self, *ops: type[Op], workspace: bool = False) -> Callable[[R], R]:
        """Decorator: register one rule for these ops.

        Args:
            ops: classes.
            workspace: of kernels: whether the rule takes a `Workspace` as its last argument.

        Raises:
            GraphError: an op already has a rule here, or the table does not look for its rule in
                the module that registers this one.
        """
        return self._register(ops, self._with_workspace if workspace else None)

    def compiles(self, *ops: type[Op], symbolic: bool = False) -> Callable[[R], R]:
        """Decorator: register a rule `(op, types, constants) -> Kernel` that compiles these ops.

        `types` are those of the inputs, `constants` the positions of inputs that are the same at
        each run.  The rule may raise `Refused(why)`.

        Args:
            ops: classes.
            symbolic: whether the rule takes types of named dimensions, too.  For these it gives a
                `KernelFamily`, or raises `Refused`; then the node goes to the next backend that
                serves all sizes, and only where there is none is the rule asked for each size.

        Raises:
            GraphError: as `on`.
        """
        if symbolic:
            self._symbolic.update(ops)
        return self._register(ops, self._compiled)

    def takes_workspace(self, op: Op) -> bool:
        """Whether the rule for this op takes a workspace; the rule is loaded."""
        return type(op) in self._with_workspace

    def compiled(self, op: Op) -> bool:
        """Whether there is a rule for this op that compiles it."""
        return self.get(op) is not None and type(op) in self._compiled

    def symbolic(self, op: Op) -> bool:
        """Whether the rule that compiles this op takes types of named dimensions."""
        return self.compiled(op) and type(op) in self._symbolic

    def _register(self, ops: Sequence[type[Op]], form: set[type[Op]] | None) -> Callable[[R], R]:
        def register(rule: R) -> R:
            here = sys._getframe(1).f_globals.get("__name__", "")
            for op in ops:
                self._load_own_rules(op, here)
                if op in self._rules:
                    old, new = _place(self._rules[op]), _place(rule)
                    raise GraphError(
                        f"{op.__name__} already has a {self.what}: {old}; second: {new}"
                    )
                if form is not None:
                    form.add(op)
                self._rules[op] = rule
            return rule

        return register

    def get(self, op: Op | type[Op]) -> R | None:
        """The rule for an op, or `None`."""
        kind = op if isinstance(op, type) else type(op)
        rule = self._rules.get(kind)
        if rule is None and kind.__module__ in self._waiting:
            self._load(kind.__module__)
            rule = self._rules.get(kind)
        return rule

    def __getitem__(self, op: Op | type[Op]) -> R:
        rule = self.get(op)
        if rule is None:
            name = op.__name__ if isinstance(op, type) else type(op).__name__
            raise MissingRule(f"no {self.what} for {name}; add one with @{self.what}s.on({name})")
        return rule

    def __contains__(self, op: object) -> bool:
        return self.get(op) is not None  # type: ignore[arg-type]  # anything may be asked for

    def __iter__(self) -> Iterator[type[Op]]:
        for module in list(self._waiting):
            self._load(module)
        return iter(self._rules)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _load(self, ops_module: str) -> None:
        who = object()  # a module that is imported here may ask for another
        try:
            begin(who)
            for module in self._homes[ops_module]:
                __import__(module)
        finally:
            end(who)
        self._waiting.pop(ops_module, None)  # not before: a thread beside this one waits for it

    def _load_own_rules(self, op: type[Op], here: str) -> None:
        """Load this package's own rules for `op` before the module `here` registers one.

        A second rule for the op is then reported as a duplicate.

        Raises:
            GraphError: `here` is of this package, and the table does not look there for the op.
        """
        if not here.startswith(self._package):
            self.get(op)
        elif self._package and here not in self._homes.get(op.__module__, ()):
            raise GraphError(
                f"nobody would look in {here} for the {self.what} of {op.__name__}: "
                f"add {op.__module__} to it where the table is made"
            )


def _place(rule: object) -> str:
    code = getattr(rule, "__code__", None)
    if code is None:
        return repr(rule)
    return f"{getattr(rule, '__qualname__', rule)} ({code.co_filename}:{code.co_firstlineno})"

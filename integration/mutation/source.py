"""Wrong source: one expression of one function of ours is another one.

Another comparison, `or` for `and`, a number one too large, a condition negated, another operator in
emitted text.  The code of the function is replaced in this process.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import CodeType, FunctionType
from typing import Any

_IR, _LOOPS, _OPT = "byparts_tensor_ir", "byparts_op_loops", "byparts_optimize"
_MEM, _RUN = "byparts_memplan", "byparts_runtime"


def _modules(package: str, names: str) -> tuple[str, ...]:
    return tuple([f"{package}.{name}" for name in names.split()])


# What is made wrong: group -> modules.
GROUPS: dict[str, tuple[str, ...]] = {
    "passes": _modules(
        _OPT,
        "fold simplify arithmetic merge movement reductions fuse grow regions legalize prune",
    ),
    "lowering": (
        *_modules(
            _LOOPS,
            "elementwise index function movement narrow reduction running pooling window random "
            "regions.axes regions.layout regions.region regions.steps regions.inplace "
            "regions.joins",
        ),
        *_modules(_IR, "index guards lower substitute expression tensor functions"),
    ),
    "emitter of LLVM": _modules(
        _IR, "vectorize access placement lane_forms emit.llvm emit.llvm_values emit.llvm_operations"
    ),
    "emitter of C": _modules(
        _IR,
        "vectorize access placement lane_forms emit.c emit.c_tables emit.values emit.statements "
        "emit.vector_values emit.halves",
    ),
    "planner": _modules(_MEM, "share plan place lifetimes buffer kernel_facts members"),
    "runtime": _modules(
        _RUN,
        "building.place building.planning building.planned_graph building.schedule "
        "building.updates building.signature building.invariants building.loops building.bodies "
        "building.body building.compile building.kernels run.bind run.bound run.commit "
        "run.machine run.results run.moving run.bodies run.rounds run.loops run.stack run.step "
        "run.program run.capture memory.plan memory.variable",
    ),
}
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In},
    **{ast.Is: ast.IsNot, ast.IsNot: ast.Is},
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    **{ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult},
    **{ast.Mod: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr},
}
_TEXTS = {" + ": " - ", " * ": " + ", " < ": " <= ", " == ": " != ", " & ": " | ", " ? ": " ?: "}


@dataclass(frozen=True)
class Mutant:
    """One changed place.

    Attributes:
        group, module, function: where it is.
        line: in the file of the module.
        what: the change, in words.
        number: of the change among all of the function.
        rule: the kind of change.
        text: the line.
    """

    group: str
    module: str
    function: str
    line: int
    what: str
    number: int
    rule: str
    text: str

    @property
    def key(self) -> str:
        """Names the place, whatever stands before it in its file."""
        return f"{self.module}.{self.function}: {self.text} [{self.what}]"

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.what}"


Edit = Callable[[Any], None]  # of a node of a copy
Found = tuple[str, str, Edit]  # rule, the change in words, what makes it


def changes(tree: ast.AST) -> Iterator[tuple[ast.AST, Found]]:
    """Each place that a rule changes, and how."""
    strict = {k.value for k in ast.walk(tree) if isinstance(k, ast.keyword) and k.arg == "strict"}
    for node in ast.walk(tree):
        for kind, rule in _RULES.items():
            if isinstance(node, kind) and node not in strict:
                for found in rule(node):
                    yield node, found


def _comparison(node: Any) -> Iterator[Found]:
    new = _COMPARISONS.get(type(node.ops[0]))
    if new is not None:
        words = f"{type(node.ops[0]).__name__} -> {new.__name__}"
        yield "another comparison", words, lambda n: n.ops.__setitem__(0, new())


def _and_or(node: Any) -> Iterator[Found]:
    other = ast.Or if isinstance(node.op, ast.And) else ast.And
    words = "and -> or" if other is ast.Or else "or -> and"
    yield "`or` for `and`, or the reverse", words, lambda n: setattr(n, "op", other())


def _operator(node: Any) -> Iterator[Found]:
    new = _OPERATORS.get(type(node.op))
    if new is not None:
        words = f"{type(node.op).__name__} -> {new.__name__}"
        yield "another operator", words, lambda n: setattr(n, "op", new())


def _constant(node: Any) -> Iterator[Found]:
    x = node.value
    if type(x) is int:
        yield "a number one more", f"{x} -> {x + 1}", lambda n: setattr(n, "value", x + 1)
    elif type(x) is bool:
        yield "a truth value", f"{x} -> {not x}", lambda n: setattr(n, "value", not x)


def _condition(node: Any) -> Iterator[Found]:
    yield "a condition negated", "condition negated", _negated


def _negated(node: Any) -> None:
    node.test = ast.UnaryOp(ast.Not(), node.test)


def _call(node: Any) -> Iterator[Found]:
    name = getattr(node.func, "id", getattr(node.func, "attr", ""))
    plain = not node.keywords and not any(isinstance(a, ast.Starred) for a in node.args)
    if name in ("min", "max"):
        other = "max" if name == "min" else "min"
        yield "min for max, or the reverse", f"{name} -> {other}", lambda n: _renamed(n.func, other)
    elif len(node.args) == 2 and plain and name not in _OF_TYPES:
        words = f"arguments of {name} exchanged"
        yield "arguments exchanged", words, lambda n: n.args.reverse()


_OF_TYPES = ("isinstance", "getattr", "hasattr", "map", "filter", "partial", "report", "cast")


def _renamed(function: Any, name: str) -> None:
    if isinstance(function, ast.Name):
        function.id = name


def _emitted(node: Any) -> Iterator[Found]:
    for old, new in _TEXTS.items():
        if any(old in text for text in _texts(node)):
            words = f"{old.strip()!r} -> {new.strip()!r}"
            yield "emitted text", words, partial(_replace, old, new)


def _texts(node: Any) -> list[str]:
    return [str(v.value) for v in node.values if isinstance(v, ast.Constant)]


def _replace(old: str, new: str, node: Any) -> None:
    for v in node.values:
        if isinstance(v, ast.Constant) and isinstance(v.value, str):
            v.value = v.value.replace(old, new)


_RULES: dict[Any, Callable[[Any], Iterator[Found]]] = {
    ast.Compare: _comparison,
    ast.BoolOp: _and_or,
    ast.BinOp: _operator,
    ast.Constant: _constant,
    ast.If: _condition,
    ast.IfExp: _condition,
    ast.Call: _call,
    ast.JoinedStr: _emitted,
}


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods of a module by their qualified names; those inside belong to them."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef) and inner.name != "__repr__":
                    yield f"{node.name}.{inner.name}", inner


def mutants_of(group: str, module: str) -> list[Mutant]:
    """All mutants of a module."""
    source = _source(module)
    lines = source.splitlines()
    made = []
    for name, function in functions(ast.parse(source)):
        if _live(module, name) is None:
            continue
        body = ast.Module(_without_docstring(function.body), [])
        seen: Counter[tuple[str, str]] = Counter()
        for number, (node, (rule, words, _)) in enumerate(changes(body)):
            line = getattr(node, "lineno", 0)
            about = (" ".join(lines[line - 1].split()), words)
            seen[about] += 1
            words += f", {seen[about]}." if seen[about] > 1 else ""
            made.append(Mutant(group, module, name, line, words, number, rule, about[0]))
    return made


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return body[1:] if documented else body


def _source(module: str) -> str:
    return inspect.getsource(importlib.import_module(module))


def _live(module: str, name: str) -> FunctionType | None:
    """The function object of a qualified name, beneath decorators."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = vars(found).get(part)
        if found is None:
            return None
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    if isinstance(found, property):
        found = found.fget
    found = inspect.unwrap(getattr(found, "func", found))
    named = isinstance(found, FunctionType) and found.__name__ == name.split(".")[-1]
    return found if named else None


def apply(mutant: Mutant) -> bool:
    """Replace the code of the function; whether that could be done."""
    tree = ast.parse(_source(mutant.module))
    function = dict(functions(tree))[mutant.function]
    body = ast.Module(_without_docstring(function.body), [])
    node, (_, _, change) = list(changes(body))[mutant.number]
    change(node)
    ast.fix_missing_locations(tree)
    live = _live(mutant.module, mutant.function)
    code = _code(compile(tree, file_of(mutant.module), "exec"), mutant.function)
    if live is None or code is None or code.co_freevars != live.__code__.co_freevars:
        return False
    live.__code__ = code
    return True


def file_of(module: str) -> str:
    """The file of a module."""
    return str(importlib.import_module(module).__file__)


def _code(code: CodeType, name: str) -> CodeType | None:
    """The code of a function or method inside the code of a module."""
    head, _, rest = name.partition(".")
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_name == head:
            return _code(inner, rest) if rest else inner
    return None


def lines_run(modules: Sequence[str], job: Callable[[], object]) -> dict[str, set[int]]:
    """The lines of modules that a function runs."""
    files = {file_of(m): m for m in modules}
    lines: dict[str, set[int]] = defaultdict(set)

    def local(frame: Any, event: str, _: Any) -> Any:
        lines[files[frame.f_code.co_filename]].add(frame.f_lineno)
        return local

    def trace(frame: Any, event: str, _: Any) -> Any:
        return local if frame.f_code.co_filename in files else None

    sys.settrace(trace)
    try:
        job()
    finally:
        sys.settrace(None)
    return dict(lines)

"""Import circles inside each part, counting imports inside functions.

    python tools/import_circles.py        # prints each circle, module by module

A circle is a set of modules of which each imports every other, directly or not.  An import counts
wherever it stands; under `if TYPE_CHECKING:`, which never runs, where it is of a module in another
folder: modules of one folder may know each other's types.  A public name that the package imports
when it is first used counts as an import of the module that it lives in.  O(modules + imports).

A module that is named by a string is an import that no tool sees.  `imports_by_string` finds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMPORTING = ("import_module", "importlib.import_module", "__import__", "pkgutil.resolve_name")
CALLS = {*IMPORTING, "named", "lazy_names"}


def sources(part: Path) -> dict[str, Path]:
    """Module name -> file, of a folder like `packages/opset`."""
    src = part / "src"
    files = sorted(src.rglob("*.py"))
    return {_module(file.relative_to(src)): file for file in files}


def imports(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules of the same part that it imports."""
    homes = lazy_homes(modules)
    edges: dict[str, set[str]] = {}
    for name, file in modules.items():
        types = {home_of(to, modules, homes) for to in _read(file).types} - {""}
        elsewhere = {home for home in types if modules[home].parent != file.parent}
        edges[name] = {home_of(to, modules, homes) for to in _read(file).running} | elsewhere
        edges[name] -= {name, ""}
    return edges


def imports_by_string(modules: Mapping[str, Path]) -> Iterator[tuple[str, int, str]]:
    """(module, line, argument) of each import of a module that a string may name.

    A string that names something of another distribution is none: an optional library.
    """
    for module, file in modules.items():
        part = module.partition(".")[0]
        for function, call in _read(file).calls:
            if function in IMPORTING and call.args:
                name = call.args[0]
                first = _text(name.values[0] if isinstance(name, ast.JoinedStr) else name)
                if not first or first.partition(".")[0].partition(":")[0] == part:
                    yield module, call.lineno, ast.unparse(name)


def names_by_symbol(modules: Mapping[str, Path]) -> Iterator[tuple[str, int, str]]:
    """(module, line, name) of each `named("nn.relu")` whose object is in the same part."""
    part, places = next(iter(modules)).partition(".")[0], _table(modules)
    for module, file in modules.items() if places else ():
        for function, call in _read(file).calls:
            if function == "named" and call.args:
                name = _text(call.args[0])
                if places.get(name, "").startswith(f"{part}."):
                    yield module, call.lineno, name


@dataclass(frozen=True)
class Imports:
    """What a file says of modules.  Its tree, a thousand times as many objects, is not kept.

    Attributes:
        running: what is imported in lines that can run, as `imported` has it.
        types: what is imported under `if TYPE_CHECKING:`.
        calls: of a function of `IMPORTING`, of `named` or of `lazy_names`, with its dotted name.
    """

    running: tuple[str, ...]
    types: tuple[str, ...]
    calls: tuple[tuple[str, ast.Call], ...]


@cache
def _read(file: Path) -> Imports:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [(_dotted(n.func), n) for n in ast.walk(tree) if isinstance(n, ast.Call)]
    kept = tuple([(name, call) for name, call in calls if name in CALLS])
    return Imports(tuple(imported(tree)), tuple(imported(tree, types=True)), kept)


def _dotted(function: ast.expr) -> str:
    """`a.b.c` of names alone; "" of other expressions.  `ast.unparse` takes 30 times as long."""
    if isinstance(function, ast.Attribute):
        base = _dotted(function.value)
        return base and f"{base}.{function.attr}"
    return function.id if isinstance(function, ast.Name) else ""


def _table(modules: Mapping[str, Path]) -> dict[str, str]:
    """TensorFlow's names -> places, of the `names.tsv` of the part; empty where there is none."""
    name, file = next(iter(modules.items()))
    folder = next(parent for parent in file.parents if parent.name == name.partition(".")[0])
    table = folder / "names.tsv"
    if not table.exists():
        return {}
    return dict([line.split("\t", 1) for line in table.read_text(encoding="utf-8").splitlines()])


def lazy_homes(modules: Mapping[str, Path]) -> dict[str, str]:
    """Public name that is imported on use -> the module that it lives in; both in full."""
    return {
        f"{package}.{name}": f"{package}.{home}"
        for package, file in modules.items()
        for home, names in _lazy_homes(file)
        for name in names.split()
    }


def circles(edges: Mapping[str, set[str]]) -> list[tuple[str, ...]]:
    """The modules of each circle, sorted (Tarjan 1972).  Recursion is as deep as a part is wide."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    result: list[tuple[str, ...]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for other in sorted(edges[module]):
            if other not in order:
                visit(other)
            if other in stack:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            at = stack.index(module)
            if len(stack) > at + 1:
                result.append(tuple(sorted(stack[at:])))
            del stack[at:]

    for module in edges:
        if module not in order:
            visit(module)
    return sorted(result)


def _module(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def imported(tree: ast.AST, types: bool = False) -> Iterator[str]:
    """Full names, `package.module` or `package.module.name`, of all imports that can run.

    Or, with `types`, of those under `if TYPE_CHECKING:`, which never run.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.expr):
            continue  # no statement stands in an expression
        if isinstance(node, ast.If) and _dotted(node.test) == "TYPE_CHECKING":
            yield from imported(ast.Module(node.body if types else node.orelse, []))
        elif types:
            yield from imported(node, types)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            yield from imported(node)


def home_of(name: str, modules: Mapping[str, Path], homes: Mapping[str, str]) -> str:
    """The module that an imported name is or lives in; "" if it is none of the part."""
    if name in homes:
        return homes[name]
    return (
        name
        if name in modules
        else next(filter(modules.__contains__, [name.rpartition(".")[0]]), "")
    )


def _lazy_homes(file: Path) -> Iterator[tuple[str, str]]:
    """(module, names) of each call of `lazy_names`."""
    for function, call in _read(file).calls:
        if function == "lazy_names":
            for keyword in call.keywords:
                if keyword.arg is None and isinstance(keyword.value, ast.Dict):
                    for key, value in zip(keyword.value.keys, keyword.value.values, strict=True):
                        yield _text(key), _text(value)
                elif keyword.arg:
                    yield keyword.arg, _text(keyword.value)


def _text(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


if __name__ == "__main__":
    for part in sorted((ROOT / "packages").iterdir()):
        found = circles(imports(sources(part)))
        print(f"{part.name}: {len(found)} import circles")
        for circle in found:
            print("   ", *circle)

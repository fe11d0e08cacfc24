"""Import circles inside each part, counting imports inside functions.

    python tools/import_circles.py        # prints each circle, module by module

A circle is a set of modules of which each imports every other, directly or not.  An import counts
wherever it stands, but not under `if TYPE_CHECKING:`, which never runs.  A public name that the
package imports when it is first used counts as an import of the module that it lives in.
O(modules + imports).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sources(part: Path) -> dict[str, Path]:
    """Module name -> file, of a folder like `packages/opset`."""
    src = part / "src"
    files = sorted(src.rglob("*.py"))
    return {_module(file.relative_to(src)): file for file in files}


def imports(modules: Mapping[str, Path]) -> dict[str, set[str]]:
    """Module -> the modules of the same part that it imports."""
    trees = {name: ast.parse(file.read_text(encoding="utf-8")) for name, file in modules.items()}
    homes = lazy_homes(trees)
    return {
        name: {home for to in imported(tree) if (home := home_of(to, modules, homes))} - {name}
        for name, tree in trees.items()
    }


def lazy_homes(trees: Mapping[str, ast.Module]) -> dict[str, str]:
    """Public name that is imported on use -> the module that it lives in; both in full."""
    return {
        f"{package}.{name}": f"{package}.{home}"
        for package, tree in trees.items()
        for home, names in _lazy_homes(tree)
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


def imported(tree: ast.AST) -> Iterator[str]:
    """Full names, `package.module` or `package.module.name`, of all imports that can run."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from imported(ast.Module(node.orelse, []))
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


def _lazy_homes(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, names) of each call of `lazy_names`."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "lazy_names":
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

"""What a reader must read to know how a graph becomes a program: the modules that `build` imports.

    python tools/weekend.py        # prints the folders, with their files and lines

The closure of the imports at the top of each module, over all parts: what a module imports inside a
function is for some programs only, and what it imports for type checkers is never run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from budgets import lines_of, parts
from import_circles import home_of, imported, lazy_homes, sources

ROOT = Path(__file__).resolve().parent.parent
BUILD = "byparts_runtime.building.build"


@cache
def closure(root: str = BUILD) -> dict[str, Path]:
    """Module -> file, of all that importing `root` imports."""
    modules = {name: file for part in parts() for name, file in sources(part).items()}
    homes = lazy_homes({n: f for n, f in modules.items() if f.name == "__init__.py"})
    reached, todo = set[str](), [root]
    while todo:
        module = todo.pop()
        if module not in reached:
            reached.add(module)
            named = (home_of(name, modules, homes) for name in _at_the_top(_tree(modules[module])))
            todo += [name for name in named if name]
    return {name: modules[name] for name in sorted(reached)}


def folders(modules: Mapping[str, Path]) -> dict[str, list[Path]]:
    """Folder, as "graph-ir/model", -> its files; those beside no folder are "graph-ir"."""
    result: dict[str, list[Path]] = {}
    for name, file in modules.items():
        package, *inside = name.split(".")
        part = package.removeprefix("byparts_").replace("_", "-")
        folder = f"{part}/{inside[0]}" if file.parent.name != package else part
        result.setdefault(folder, []).append(file)
    return result


def _tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def _at_the_top(tree: ast.Module) -> Iterator[str]:
    for statement in tree.body:
        if not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from imported(ast.Module([statement], []))


def main() -> None:
    """Print the folders."""
    for folder, files in folders(closure()).items():
        print(f"{folder:20} {len(files):3} files {sum(map(lines_of, files)):6,} lines")


if __name__ == "__main__":
    main()

"""Leaves out of a part what a device does not do: search for better programs, draw, explain.

What stays is what the part's roots import at their top.  Names, records and commands that lived in
modules that are gone are gone as well, so that discovery offers nothing that cannot be loaded.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

# A device plans the program it is given: order and recomputation are part of the program.
# It places in greedy orders, which reach the bound on real networks; the search is left out.
ROOTS: Mapping[str, tuple[str, ...]] = {
    "byparts_memplan": ("plan", "place", "json_format", "conflict"),
}
LEFT_OUT = {"byparts_graph_ir.draw", "byparts_graph_ir.new"}  # pictures; a stranger's first backend


def lean(modules: Mapping[str, ast.Module]) -> dict[str, ast.Module]:
    """The modules that stay; `__init__` and `plugin` of a part with roots name no others."""
    kept = {name: tree for name, tree in modules.items() if name not in LEFT_OUT}
    for package, roots in ROOTS.items():
        inside = {m for m in modules if m.startswith(f"{package}.")}
        if not inside:
            continue
        needed = _reached(modules, {f"{package}.{root}" for root in roots})
        files = {f"{package}.__init__", f"{package}.plugin"}
        for name in inside - needed - files:
            del kept[name]
        public = _public(modules[f"{package}.__init__"])
        for name in files & inside:
            pruned = _Prune(package, public, kept).visit(modules[name])
            kept[name] = ast.fix_missing_locations(pruned)
    return kept


def _reached(modules: Mapping[str, ast.Module], roots: Collection[str]) -> set[str]:
    """The modules imported at the top of the roots, and of those."""
    found, todo = set(roots), list(roots)
    while todo:
        tree = modules[todo.pop()]
        named = {s.module for s in tree.body if isinstance(s, ast.ImportFrom) and s.module}
        new = (named & modules.keys()) - found
        found |= new
        todo += new
    return found


def _public(tree: ast.Module) -> dict[str, str]:
    """Public name -> module, where the module has the call of `lazy_names`."""
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and _is_lazy_names(n)]
    words = [(k.arg, k.value) for call in calls for k in call.keywords]
    return {
        name: str(module)
        for module, value in words
        if isinstance(value, ast.Constant)
        for name in str(value.value).split()
    }


def _is_lazy_names(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "lazy_names"


class _Prune(ast.NodeTransformer):
    """Drops keywords of `lazy_names`, and records whose `load` names a module that is gone."""

    def __init__(self, package: str, public: Mapping[str, str], kept: Collection[str]) -> None:
        self.package, self.public, self.kept = package, public, kept

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if _is_lazy_names(node):
            node.keywords = [k for k in node.keywords if f"{self.package}.{k.arg}" in self.kept]
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        node.elts = [e for e in node.elts if not self._is_gone(e)]
        return node

    def _is_gone(self, record: ast.expr) -> bool:
        texts = [n.value for n in ast.walk(record) if isinstance(n, ast.Constant)]
        loads = [t for t in texts if isinstance(t, str) and t.startswith(self.package)]
        return any(self._home(load) not in self.kept for load in loads)

    def _home(self, load: str) -> str:
        """The module that "package:name" or "package.module:name" is about."""
        module, _, name = load.partition(":")
        return f"{module}.{self.public.get(name, name)}" if module == self.package else module

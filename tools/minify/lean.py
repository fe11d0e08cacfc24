"""Leaves out of a part what a device does not do: search for better programs, draw, explain.

What stays is what the part's roots import at their top.  Names, records and commands that lived in
modules that are gone are gone as well, so that discovery offers nothing that cannot be loaded; who
asks for one is told that the full wheel has it (`LeftOut`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from typing import Any

# A device plans the program it is given: order and recomputation are part of the program.
# It places in greedy orders, which reach the bound on real networks; the search is left out.
ROOTS: Mapping[str, tuple[str, ...]] = {
    "byparts_memplan": ("plan", "place", "json_format", "conflict"),
}
LEFT_OUT = (
    "byparts_graph_ir.formats.text",  # `parse`: a device loads JSON
    "byparts_graph_ir.parts.listing",  # the command line, as `new`
    "byparts_graph_ir.parts.new",
    "byparts_runtime.building.check_plan",  # of planners of others; memplan is tried on networks
    "byparts_runtime.inspect.columns",  # of `explain`
    "byparts_runtime.inspect.explain",
    "byparts_runtime.inspect.profile",
    "byparts_runtime.inspect.rounds",  # of `profile`
    "byparts_runtime.run.feed_slots",  # a batch at a time
)


def lean(modules: Mapping[str, ast.Module]) -> dict[str, ast.Module]:
    """The modules that stay; `__init__` and `plugin` of a part with roots name no others."""
    kept = {name: tree for name, tree in modules.items() if not name.startswith(LEFT_OUT)}
    for package, roots in ROOTS.items():
        inside = {m for m in modules if m.startswith(f"{package}.")}
        if not inside:
            continue
        needed = _reached(modules, {f"{package}.{root}" for root in roots})
        files = {f"{package}.__init__", f"{package}.plugin"}
        for name in inside - needed - files:
            del kept[name]
    for package in {name.partition(".")[0] for name in modules}:
        _prune(package, modules, kept)
    return kept


def _prune(package: str, modules: Mapping[str, ast.Module], kept: dict[str, ast.Module]) -> None:
    """What the `__init__` and the plugin file of a package say of modules that are gone."""
    files = {f"{package}.__init__", f"{package}.plugin"} & kept.keys()
    if all(name in kept for name in modules if name.startswith(f"{package}.")):
        return
    public = _public(modules[f"{package}.__init__"])
    for name in files:
        pruned = _Prune(package, public, kept).visit(modules[name])
        kept[name] = ast.fix_missing_locations(pruned)


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
    return {
        name: module
        for call in calls
        for module, names in _homes(call)
        for name in names.value.split()
    }


def _homes(call: ast.Call) -> list[tuple[str, Any]]:
    """Module, and the constant with its names: `module="a b"`, or `**{"folder.module": "a b"}`."""
    pairs: list[tuple[Any, ast.expr]] = []
    for k in call.keywords:
        if k.arg is None and isinstance(k.value, ast.Dict):
            pairs += [(_word(key), v) for key, v in zip(k.value.keys, k.value.values, strict=True)]
        else:
            pairs.append((k.arg, k.value))
    return [(module, value) for module, value in pairs if module and _is_text(value)]


def _word(key: Any) -> str:
    return str(key.value) if isinstance(key, ast.Constant) else ""


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_lazy_names(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "lazy_names"


class _Prune(ast.NodeTransformer):
    """Moves keywords of `lazy_names`, and names of records, whose module is gone to `LEFT_OUT`."""

    def __init__(self, package: str, public: Mapping[str, str], kept: Collection[str]) -> None:
        self.package, self.public, self.kept = package, public, kept
        self.hook = ""
        self.left_out: dict[str, tuple[object, ...]] = {}

    def visit_Module(self, node: ast.Module) -> ast.Module:
        self.generic_visit(node)
        if self.left_out:
            node.body += ast.parse(f"LEFT_OUT = {self.left_out}").body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.hook = node.name
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _is_lazy_names(node):
            homes = _homes(node)  # `checked=True` is none
            gone = [(m, names) for m, names in homes if f"{self.package}.{m}" not in self.kept]
            if gone:
                kept = [home for home in homes if home not in gone]
                words = [ast.keyword(module, names) for module, names in kept if "." not in module]
                words += [k for k in node.keywords if k.arg and not _is_text(k.value)]
                if dotted := [(module, names) for module, names in kept if "." in module]:
                    words.append(ast.keyword(None, _dict(dotted)))
                node.keywords = words
                node.keywords.append(ast.keyword("left_out", _dict(gone)))
        return node

    def visit_List(self, node: ast.List) -> ast.AST:
        gone = [e for e in node.elts if self._is_gone(e)]
        node.elts = [e for e in node.elts if e not in gone]
        if gone:  # a record begins with its name
            kind = self.hook.partition("_")[2]
            names = [a.value for e in gone for a in _first(e) if isinstance(a, ast.Constant)]
            self.left_out[kind] = (*self.left_out.get(kind, ()), *names)
        return node

    def _is_gone(self, record: ast.expr) -> bool:
        texts = [n.value for n in ast.walk(record) if isinstance(n, ast.Constant)]
        loads = [t for t in texts if isinstance(t, str) and t.startswith(self.package)]
        return any(self._home(load) not in self.kept for load in loads)

    def _home(self, load: str) -> str:
        """The module that "package:name" or "package.module:name" is about."""
        module, _, name = load.partition(":")
        return f"{module}.{self.public.get(name, name)}" if module == self.package else module


def _dict(homes: Sequence[tuple[str, Any]]) -> ast.Dict:
    return ast.Dict([ast.Constant(module) for module, _ in homes], [names for _, names in homes])


def _first(record: ast.expr) -> list[ast.expr]:
    return record.args[:1] if isinstance(record, ast.Call) else []

"""Shorter names for what only one function sees: its local variables.

Parameters keep their names, because callers may say them; so do those of private functions that
some module gives by keyword, or names in a text.  A function with a class inside is left alone, and
so are names that something outside the function has, or that stand in statements which hold names
as text (`global`, `nonlocal`, `import`, `match`).
"""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Collection, Iterator, Mapping
from itertools import count, product
from string import ascii_lowercase

Function = ast.FunctionDef | ast.AsyncFunctionDef


def shorten(modules: Mapping[str, ast.Module]) -> None:
    """In place; the modules know one another's keywords."""
    every = [node for tree in modules.values() for node in ast.walk(tree)]
    said = {n.arg for n in every if isinstance(n, ast.keyword) and n.arg}
    said |= {n.value for n in every if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    for tree in modules.values():
        outside = _outside(tree)
        for function in _outermost(tree):
            _shorten(function, outside, said)


def _outermost(node: ast.AST) -> Iterator[Function]:
    """The functions that stand in no other, methods too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield child
        else:
            yield from _outermost(child)


def _outside(tree: ast.Module) -> set[str]:
    """Names of the module, and Python's."""
    found = {name for name in dir(builtins)}
    for node in _of_module(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, (Function, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
    found |= {n for node in ast.walk(tree) if isinstance(node, ast.Global) for n in node.names}
    return found


def _of_module(node: ast.AST) -> Iterator[ast.AST]:
    """What stands in no function."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function):
            yield from _of_module(child)


def _shorten(function: Function, outside: set[str], said: Collection[str]) -> None:
    nodes = list(ast.walk(function))
    names = [n for n in nodes if isinstance(n, ast.Name)]
    if any(isinstance(n, ast.ClassDef) for n in nodes) or {"locals", "vars", "eval", "exec"} & {
        n.id for n in names
    }:
        return
    fixed = outside | _held_as_text(nodes)
    arguments = [n for n in nodes if isinstance(n, ast.arg)]
    private = function.name.startswith("_") and not function.name.endswith("__")
    fixed |= {a.arg for a in arguments if not private or a.arg in said or a.arg == "self"}
    bound = [n.id for n in names if not isinstance(n.ctx, ast.Load)]
    bound += [a.arg for a in arguments]
    bound += [n.name for n in nodes if isinstance(n, ast.ExceptHandler) and n.name]
    taken = fixed | {n.id for n in names}
    ours = [name for name in dict.fromkeys(bound) if name not in fixed]
    new = dict(zip(ours, _short(taken - set(ours)), strict=False))
    for node in nodes:
        if isinstance(node, ast.Name):
            node.id = new.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = new.get(node.arg, node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            node.name = new.get(node.name, node.name)


def _held_as_text(nodes: list[ast.AST]) -> set[str]:
    """Names in nodes that are no `Name`."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Function):
            found.add(node.name)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            found |= set(node.names)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
            found.add(node.name or "")
        elif isinstance(node, ast.MatchMapping):
            found.add(node.rest or "")
    return found


def _short(taken: Collection[str]) -> Iterator[str]:
    """a, b, ..., aa, ab, ... without those that are taken."""
    for length in count(1):
        for letters in product(ascii_lowercase, repeat=length):
            name = "".join(letters)
            if name not in taken and not keyword.iskeyword(name):
                yield name

"""Many modules as one file: a function for each, whose code `unpack.py` runs as the module.

All that a module assigns is declared global in its function, so that it lands in the namespace in
which the code is run, and a class keeps its plain name.  Modules that resemble each other stand
together: what deflate has seen in the last 32 KB costs nothing.
"""

from __future__ import annotations

import ast
import symtable
import zlib
from collections.abc import Mapping

from minify.strip import unparse

FOLDER = "__"  # between a folder and a module in the name of a function, as `unpack.py` has it
FUTURE = ast.ImportFrom("__future__", [ast.alias("annotations")], 0)


def pack(modules: Mapping[str, ast.Module]) -> str:
    """The text of `_modules.py`.  A function is called as its module, with "_" behind."""
    head = unparse(ast.Module([FUTURE], []))
    functions = [unparse(ast.Module([_function(f"{n}_", m)], [])) for n, m in modules.items()]
    return "".join([head, *_neighbours(functions)])


def _function(name: str, tree: ast.Module) -> ast.stmt:
    body = [
        s for s in tree.body if not (isinstance(s, ast.ImportFrom) and s.module == FUTURE.module)
    ]
    table = symtable.symtable(ast.unparse(ast.Module(body, [])), name, "exec")
    names = [s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported()]
    first: list[ast.stmt] = [ast.Global(sorted(names))] if names else []
    (made,) = ast.parse(f"def {name}(): pass").body
    assert isinstance(made, ast.FunctionDef)
    made.body = [*first, *body] or made.body
    return ast.fix_missing_locations(made)


def _neighbours(texts: list[str]) -> list[str]:
    """Each text before the one that gains most by coming after it.  O(n^2) compressions."""
    alone = {text: _compressed_bytes(text, "") for text in texts}
    order, rest = texts[:1], texts[1:]
    while rest:
        before = order[-1]
        order.append(min(rest, key=lambda text: _compressed_bytes(text, before) - alone[text]))
        rest.remove(order[-1])
    return order


def _compressed_bytes(text: str, before: str) -> int:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15, 8, 0, before.encode()[-32768:] or b" ")
    return len(deflate.compress(text.encode()) + deflate.flush())

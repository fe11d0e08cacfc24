"""What each program still lacks: `cd packages/frontend-tf/tests; python -m tf1.status [NAME ...]`.

Runs the programs on our TensorFlow and holds them against the logs.  For each: the lines that are
right, the symbols it names that are not here, and the error or the first line that differs.
"""

from __future__ import annotations

import ast
import sys
from types import ModuleType

import byparts_frontend_tf
from tf1.compare import differences
from tf1.places import names, program, recorded, run_here

TOLERANCE = 1e-3  # this is an overview; the tests have their own


def missing_symbols(source: str) -> list[str]:
    """The names `tf.a.b` of a program that do not exist here, sorted."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    lacked = {_lacked(chain) for node in nodes if (chain := _chain(node))[:1] == ["tf"]}
    return sorted(lacked - {""})


def _chain(node: ast.expr) -> list[str]:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else []


def _lacked(chain: list[str]) -> str:
    found: object = byparts_frontend_tf
    for number, part in enumerate(chain[1:], 2):
        if not isinstance(found, ModuleType):
            return ""
        try:
            found = getattr(found, part)
        except AttributeError:
            return ".".join(chain[:number])
    return ""


def status(name: str) -> str:
    """One line, or a few."""
    expected = recorded(name)
    lines = len(expected.splitlines())
    outcome = run_here(name)
    wrong = differences(expected, outcome.output, TOLERANCE)
    right = max(0, lines - len(wrong))
    if not wrong and not outcome.status:
        return f"{name}: all {lines} lines"
    lacks = missing_symbols(program(name).read_text())
    parts = [f"{name}: {right} of {lines} lines"]
    parts += [f"    lacks {', '.join(lacks)}"] * bool(lacks)
    parts += [f"    {outcome.complaint()[:300] or wrong[0]}"]
    return "\n".join(parts)


def main() -> None:
    """Print the status of the programs that are named, or of all."""
    for name in sys.argv[1:] or names():
        print(status(name), flush=True)


if __name__ == "__main__":
    main()

"""Python text without what only people and type checkers read: what a device has to store.

Docstrings, comments, annotations, blocks for type checkers, and the imports that only those needed
fall away, and with them the checks that read them: of arguments (`contract.py`) and of the bodies
of frozen classes (`model/frozen.py`).  Annotations of fields stay, because they are the fields.
What is left does the same: the only other change is that lines are broken and indented in the
cheapest way.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from io import StringIO
from token import tok_name
from tokenize import generate_tokens

Module = ast.Module

CHECKS = ("_check_constants", "_check_defaults", "_names_in")  # refuse bodies of classes


def strip(text: str) -> Module:
    """The module without docs and types; its imports are those it had."""
    made: Module = _Strip().visit(ast.parse(text))
    return ast.fix_missing_locations(made)


def drop_unused_imports(modules: Mapping[str, Module], kept: frozenset[str]) -> None:
    """Remove, in place, imported names that a module does not use and no other takes from it.

    `kept` are lines of the sources, as "module:line", that import for a side effect.
    """
    read = {name: _read(tree) for name, tree in modules.items()}
    while True:
        taken = {name for tree in modules.values() for name in _taken(tree)}
        before = sum(_count(tree) for tree in modules.values())
        for name, tree in modules.items():
            tree.body = [
                s for s in (_used_only(s, name, read[name], taken, kept) for s in tree.body) if s
            ]
        if sum(_count(tree) for tree in modules.values()) == before:
            return


def unparse(tree: Module) -> str:
    """Text with one blank for each level, and elsewhere only where two words would be one."""
    wide = ast.unparse(tree)
    narrow = re.sub(r"^(?:    )+", lambda m: " " * (len(m[0]) // 4), wide, flags=re.MULTILINE)
    narrow = re.sub(r"\n{2,}", "\n", narrow)
    for text in (narrow, wide):  # `narrow` is another program where a text has several lines
        dense = _dense(text)
        if ast.unparse(ast.parse(dense)) == wide:
            return dense + "\n"
    raise AssertionError(f"blanks that mean something: {wide[:200]}")


def _dense(text: str) -> str:
    """Without the blanks beside signs; those within strings stay."""
    lines = text.splitlines(keepends=True)
    gaps: list[tuple[int, int, int]] = []  # line, from, to
    inside, before = 0, None
    for token in generate_tokens(StringIO(text).readline):
        name = tok_name[token.type]
        if before is not None and before.end[0] == token.start[0] and not inside:
            row, start, end = token.start[0] - 1, before.end[1], token.start[1]
            words = before.string[-1:] + token.string[:1]
            if lines[row][start:end] == " " and not _meet(words):
                gaps.append((row, start, end))
        inside += (name == "FSTRING_START") - (name == "FSTRING_END")  # from Python 3.12 on
        before = token if name not in ("INDENT", "DEDENT", "NEWLINE", "NL") else None
    for row, start, end in reversed(gaps):
        lines[row] = lines[row][:start] + lines[row][end:]
    return "".join(lines)


def _meet(ends: str) -> bool:
    """Whether two letters or digits would stand side by side."""
    return all(letter.isalnum() or letter in "_." for letter in ends)


class _Strip(ast.NodeTransformer):
    """Visits statements; `self.inside` is what they stand in."""

    inside: type[ast.AST] = ast.Module

    def visit_Module(self, node: Module) -> Module:
        node.body = self._body(node)
        marks = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == "TYPE_CHECKING"]
        if len(marks) == 1:  # its own definition
            node.body = [s for s in node.body if marks[0] not in ast.walk(s)]
        if not any(isinstance(n, ast.AnnAssign) for n in ast.walk(node)):
            node.body = [s for s in node.body if not _future(s)]
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef | None:
        if node.name in CHECKS:
            return None
        arguments = node.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for argument in [*every, arguments.vararg, arguments.kwarg]:
            if argument is not None:
                argument.annotation = None
        node.returns = None
        node.decorator_list = [d for d in node.decorator_list if ast.unparse(d) != "checked"]
        node.body = self._body(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = self._body(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | None:
        constant = ast.unparse(node.annotation).startswith("ClassVar")
        if self.inside is ast.ClassDef and not constant:
            return node
        if node.value is None:
            return None
        return ast.Assign([node.target], node.value, lineno=node.lineno)

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | None:
        self.generic_visit(node)
        call = node.value
        return None if isinstance(call, ast.Call) and ast.unparse(call.func) in CHECKS else node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if ast.unparse(node.func) == "lazy_names":
            node.keywords = [k for k in node.keywords if k.arg != "checked"]
        return node

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt] | None:
        test = ast.unparse(node.test)
        if test not in ("TYPE_CHECKING", "not TYPE_CHECKING"):
            self.generic_visit(node)
            node.body = node.body or [ast.Pass()]
            return node
        taken = node.orelse if test == "TYPE_CHECKING" else node.body
        return [made for statement in taken for made in _listed(self.visit(statement))]

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Quotes inside an f-string are written as only Python 3.12 reads them: not an f-string."""
        self.generic_visit(node)
        fields = [n for n in ast.walk(node) if isinstance(n, ast.FormattedValue)]
        inner = [n for f in fields for n in ast.walk(f.value)]
        if not any(
            isinstance(n, ast.Constant) and isinstance(n.value, (str, bytes)) for n in inner
        ):
            return node
        arguments: list[ast.expr] = []
        text = ast.Constant(_template(node, arguments))
        return ast.Call(ast.Attribute(text, "format", ast.Load()), arguments, [])

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        node.value = self.visit(node.value)  # and not the width: it is no text of its own
        return node

    def _body(self, node: Module | ast.FunctionDef | ast.ClassDef) -> list[ast.stmt]:
        before, self.inside = self.inside, type(node)
        self.generic_visit(node)
        self.inside = before
        body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
        bare = isinstance(node, ast.Module)
        return body if body or bare else [ast.Pass()]


def _template(node: ast.JoinedStr, arguments: list[ast.expr]) -> str:
    """The f-string for `str.format`; what it formats is added to `arguments`."""
    text = ""
    for part in node.values:
        if isinstance(part, ast.Constant):
            text += str(part.value).replace("{", "{{").replace("}", "}}")
        elif isinstance(part, ast.FormattedValue):
            arguments.append(part.value)
            conversion = f"!{chr(part.conversion)}" if part.conversion >= 0 else ""
            spec = part.format_spec
            given = f":{_template(spec, arguments)}" if isinstance(spec, ast.JoinedStr) else ""
            text += f"{{{conversion}{given}}}"
    return text


def _listed(made: ast.stmt | list[ast.stmt] | None) -> list[ast.stmt]:
    return made if isinstance(made, list) else [made] if made is not None else []


def _future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _taken(tree: Module) -> set[tuple[str, str]]:
    """(module, name) that it imports, or reaches as an attribute of a module."""
    imports = [n for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    return {(str(n.module), a.name) for n in imports for a in n.names}


def _read(tree: Module) -> set[str]:
    """Names that stand for a value somewhere in a module."""
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def _count(tree: Module) -> int:
    return sum(len(s.names) for s in tree.body if isinstance(s, (ast.Import, ast.ImportFrom)))


def _used_only(
    statement: ast.stmt,
    name: str,
    read: set[str],
    taken: set[tuple[str, str]],
    kept: frozenset[str],
) -> ast.stmt | None:
    """An import with those of its names that somebody uses; any other statement as it is."""
    if not isinstance(statement, (ast.Import, ast.ImportFrom)) or _future(statement):
        return statement
    if any(f"{name}:{i}" in kept for i in range(statement.lineno, _end(statement) + 1)):
        return statement
    names = [(a, a.asname or a.name.partition(".")[0]) for a in statement.names]
    statement.names = [a for a, bound in names if bound in read or (name, bound) in taken]
    return statement if statement.names else None


def _end(statement: ast.stmt) -> int:
    return statement.end_lineno or statement.lineno

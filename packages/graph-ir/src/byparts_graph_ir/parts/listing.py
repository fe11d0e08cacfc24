"""The output of `byparts parts`: each installed part, what it provides, and what is wrong with it.

Without `load` nothing of a part is imported but its plugin file and its op sets, whose names can
clash; the functions that make a backend are read, not called.  With `load` every record is loaded
and every backend is started.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from typing import Any

from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.discover import Part, conflict, one_line
from byparts_graph_ir.parts.hooks import API, Record, findable
from byparts_graph_ir.parts.hub import Parts, no_backend, resolve, start

MIN_WIDTH = 30  # of the last column, however narrow the terminal
NAMED = 3  # ops that a sentence about a conflict names


def inspected(parts: Parts, *, load: bool = False) -> list[Part]:
    """Return the parts; one with a record that cannot be used is "broken" and says why."""
    listed = [_inspected(part, load=load) for part in parts.all()]
    shared: dict[tuple[str, ...], list[str]] = {}
    for name, owners in parts.ops().conflicts.items():
        shared.setdefault(tuple(part.name for part in owners), []).append(name)
    for names, ops in shared.items():
        owners = [part for part in listed if part.name in names and "ops" in part.provides]
        more = f" and {len(ops) - NAMED} more" if len(ops) > NAMED else ""
        what = f"{'ops' if len(ops) > 1 else 'op'} {', '.join(map(repr, ops[:NAMED]))}{more}"
        for part in owners:
            part.why = _joined(part.why, conflict(what, owners))
            part.state = "conflict" if part.usable else part.state
    return listed


def table(listed: Sequence[Part], width: int = 0) -> str:
    """A row for each part, then what is wrong with those that are usable.

    `*` marks what needs a module that is not installed.  `width` is that of the terminal; 0 is any.
    """
    rows = [("part", "version", "state", "ms", "provides")]
    for p in listed:
        text = _provided(p) if p.usable else p.why
        rows.append((p.name, p.version, p.state, f"{p.load_s * 1e3:.1f}", text))
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    heads = ("  ".join([*map(str.ljust, row[:4], widths), ""]) for row in rows)
    lines = [
        line for head, row in zip(heads, rows, strict=True) for line in _row(head, row[4], width)
    ]
    sentences = dict.fromkeys(line for p in listed for line in _sentences(p))
    return "\n".join(
        [*lines, *(part for line in sentences for part in (wrap(line, width) if width else [line]))]
    )


def as_json(listed: Sequence[Part]) -> dict[str, Any]:
    """The same for programs."""
    return {
        "api": API,
        "parts": [
            {**asdict(replace(p, provides={})), "provides": _records(p), "usable": p.usable}
            for p in listed
        ],
    }


def _inspected(part: Part, *, load: bool) -> Part:
    part = replace(part, notes=list(part.notes))
    usable = part.provides.items() if part.usable else ()
    tried = [(kind, record) for kind, records in usable for record in records]
    problems = [_problem(kind, part, r, load=load) for kind, r in tried if not r.missing()]
    if why := _joined(*problems):
        part.state, part.why = "broken", _joined(why, part.why)
    return part


def _problem(kind: str, part: Part, record: Record, *, load: bool) -> str:
    """The problem of a record; "" if nothing is known to be wrong."""
    if not load and kind != "ops":
        return _read(kind, record)
    try:
        provided = resolve(kind, part, record)
    except PartError as error:
        return str(error)
    try:
        if kind == "backends":
            start(part, record, provided)
    except PartError as error:
        if not isinstance(error.__cause__, (RuntimeError, OSError)):
            return str(error)
        part.notes.append(f"has a backend that does not start here: {error}")
    return ""


def _read(kind: str, record: Record) -> str:
    """The problem that the source of a record shows without being run; "" if there is none."""
    module, _, name = record.load.partition(":")
    if not findable(module.partition(".")[0]):
        return f"{record.load}: there is no module {module.partition('.')[0]!r}"
    spec = _spec(module)
    if kind != "backends" or spec is None or not str(spec.origin).endswith(".py"):
        return ""
    try:
        tree = ast.parse(Path(str(spec.origin)).read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        return f"{record.load}: {one_line(error)}"
    definitions = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == name]
    nothing = (
        definitions and not definitions[-1].decorator_list and _returns_nothing(definitions[-1])
    )
    return no_backend(record, "None") if nothing else ""


def _spec(module: str) -> ModuleSpec | None:
    """The place of a module, found without importing a package around it."""
    top, *rest = module.split(".")
    spec, name = find_spec(top), top
    for last in rest:
        name = f"{name}.{last}"
        inside = spec.submodule_search_locations if spec is not None else None
        spec = PathFinder.find_spec(name, inside) if inside is not None else None
    return spec


def _returns_nothing(function: ast.FunctionDef) -> bool:
    """Whether a function ends, and without a value."""
    values = [n.value for n in _own(function) if isinstance(n, ast.Return) and n.value is not None]
    some = [v for v in values if not (isinstance(v, ast.Constant) and v.value is None)]
    return not some and not isinstance(function.body[-1], ast.Raise)


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes inside, without the functions and classes inside."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            yield child
            yield from _own(child)


def _sentences(part: Part) -> Iterator[str]:
    if part.state == "conflict":
        yield from part.why.split("; and ")
    for note in part.notes:
        yield f"note: {part.name} ({part.distribution} {part.version}) {note}"


def _provided(part: Part) -> str:
    return "; ".join(
        f"{kind}: " + ", ".join(r.name + "*" * bool(r.missing()) for r in records)
        for kind, records in part.provides.items()
    )


def _row(head: str, text: str, width: int) -> list[str]:
    if not width or len(head) + len(text) <= width:
        return [(head + text).rstrip()]
    first, *rest = wrap(text, max(MIN_WIDTH, width - len(head)))
    return [head + first, *(" " * len(head) + line for line in rest)]


def _records(part: Part) -> dict[str, list[dict[str, Any]]]:
    return {
        kind: [{**asdict(r), "missing": r.missing()} for r in records]
        for kind, records in part.provides.items()
    }


def _joined(*sentences: str) -> str:
    return "; and ".join(filter(None, sentences))

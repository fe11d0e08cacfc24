"""Short keys of generated code: all that the code of some ops depends on beside the ops themselves.

A short key in front of generated code (an op and its types, the digest of a region) saves lowering
and emitting, and is right only while nothing that makes the code changes.  For our own ops and
rules that is: the files of graph-ir, of the op set, of tensor-ir, of this part, and of the parts
that the backend names.  What others do to lower an op may depend on anything, so for their ops and
rules there is no short key: their code is emitted in each process, and found by its text.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from byparts_graph_ir import Graph, Op, Table
from byparts_graph_ir.model.bodies import nested
from byparts_tensor_ir.cache import files_of, keep_text, kept_text

OURS = ("byparts_graph_ir", "byparts_opset", "byparts_tensor_ir", "byparts_op_loops")
_TABLES = {  # of rules, by the modules that own them; one that is not loaded has no rules
    "byparts_op_loops.elementwise": "element",
    "byparts_op_loops.reduction": "reduction",
    "byparts_op_loops.movement": "movement",
    "byparts_op_loops.function": "function",
}


def short_key(
    backend: Sequence[str], kinds: Iterable[type[Op]], tables: Sequence[Table[Any]] = ()
) -> str | None:
    """Sizes and times of all files that generated code for these ops depends on.

    `None` where an op, or a rule for one, is neither of `OURS` nor of the backend's packages.

    Args:
        backend: the packages that make code of the loops.
        kinds: the ops.
        tables: where the backend has rules of its own for loops of ops.
    """
    packages = (*OURS, *backend)
    for kind in kinds:
        if any(root_of(who) not in packages for who in (kind, *_rules(kind, tables))):
            return None
    return "\n".join(map(files, packages))


def kept_record(
    about: Sequence[str], ours: str | None, key: bytes, make: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """The record of generated code as JSON has it: from the disk, or made and kept there.

    Args:
        about: what the code is made for beside `key`: an emitter, a target.
        ours: the short key; `None`: the record is made in each process.
        key: what is computed, and of which types.
        make: the record.
    """
    start = "\0".join([*about, ours or ""]).encode()
    name = f"{hashlib.sha256(start + key).hexdigest()[:32]}.json"
    text = None if ours is None else kept_text(name)
    if text is None:
        text = json.dumps(make(), default=sorted)
        if ours is not None:
            keep_text(name, text)
    record: dict[str, Any] = json.loads(text)
    return record


def kinds_of(graph: Graph) -> set[type[Op]]:
    """The ops of a graph and of the graphs inside."""
    return {type(node.op) for inner in nested(graph) for node in inner.nodes}


def root_of(who: object) -> str:
    """The package that a class or a function is of."""
    while isinstance(who, partial):
        who = who.func
    return str(getattr(who, "__module__", "")).partition(".")[0]


def _rules(kind: type[Op], tables: Sequence[Table[Any]]) -> list[Any]:
    """The rules for an op in our tables that are loaded, and in these."""
    ours = [getattr(sys.modules.get(module), name, None) for module, name in _TABLES.items()]
    return [t._rules[kind] for t in (*ours, *tables) if t is not None and kind in t._rules]


@cache
def files(package: str) -> str:
    """Sizes and times of the files of a package, which change whenever one of them does."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    return "\n".join(line for folder in folders or () for line in files_of(Path(folder)))

"""Who takes part when code is generated for some ops: ours, by their files, or somebody else.

A short key in front of generated code (an op and its types, the digest of a region) saves lowering
and emitting, and is right only while nothing that makes the code changes.  For ops and rules of
ours that is: the files of the op set, of the IR, of this package and of the backend.  What others
do to lower an op may depend on anything, so for their ops and rules there is no short key: their
code is emitted in each process, and found by its text.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from byparts_graph_ir import Graph, Op
from byparts_graph_ir.model.bodies import nested
from byparts_tensor_ir.cache import files_of

OURS = ("byparts_graph_ir", "byparts_opset", "byparts_tensor_ir")
_TABLES = {  # of rules, by the modules that make them; where one is not imported it has no rules
    "byparts_tensor_ir.lowering.elementwise": "element",
    "byparts_tensor_ir.lowering.reduction": "reduction",
    "byparts_tensor_ir.lowering.movement": "movement",
    "byparts_tensor_ir.lowering.function": "function",
    "byparts_kernels_cuda.loops": "loops",
}


def short_key(backend: str, kinds: Iterable[type[Op]]) -> str | None:
    """All that generated code for these ops depends on beside the ops' fields and types.

    `None` where an op, or a rule for one, is neither of ours nor of the package `backend`.
    """
    packages = (*OURS, backend)
    if any(root_of(who) not in packages for kind in kinds for who in (kind, *_rules(kind))):
        return None
    return "\n".join(map(files, packages))


def kinds_of(graph: Graph) -> set[type[Op]]:
    """The ops of a graph and of the graphs inside."""
    return {type(node.op) for inner in nested(graph) for node in inner.nodes}


def root_of(who: object) -> str:
    """The package that a class or a function is of."""
    while isinstance(who, partial):
        who = who.func
    return str(getattr(who, "__module__", "")).partition(".")[0]


def _rules(kind: type[Op]) -> list[Any]:
    """The rules for an op in tables that are there; ours that are not loaded yet are left out."""
    tables = [getattr(sys.modules.get(module), name, None) for module, name in _TABLES.items()]
    return [t._rules[kind] for t in tables if t is not None and kind in t._rules]


@cache
def files(package: str) -> str:
    """Sizes and times of the files of a package, which change whenever one of them does."""
    spec = find_spec(package)
    folders = spec.submodule_search_locations if spec is not None else None
    return "\n".join(line for folder in folders or () for line in files_of(Path(folder)))

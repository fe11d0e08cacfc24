"""Ops without an op set: classes made from what was recorded about the ops of some programs.

graph-ir alone has no ops, and must still read, print, check and specialise any program.  What it
asks of an op are names, fields, types and facts; these were written down where the ops are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, make_dataclass
from typing import Any

from byparts_graph_ir import Graph, Node, Op, TensorType

Facts = dict[str, Any]
CONSTANTS = ("inplace", "ignores", "effect", "shape_fields", "pattern")


def facts_of(graphs: Iterable[Graph]) -> dict[str, Facts]:
    """Of every op in these graphs, its fields and constants, and its answers on these types."""
    found: dict[str, Facts] = {}
    for node in (node for graph in graphs for node in graph.nodes):
        kind = type(node.op)
        facts = found.setdefault(
            kind.name,
            {
                "fields": [field.name for field in fields(kind)],
                "defaults": {f.name: f.default for f in fields(kind) if f.default is not MISSING},
                "constants": {name: getattr(kind, name) for name in CONSTANTS},
                "answers": {},
            },
        )
        facts["answers"][_question(node.op, _input_types(node))] = {
            "outputs": [(v.type.dtype, v.type.shape) for v in node.outputs],
            "views": node.op.views(*_input_types(node)) if _static(node) else (),
        }
    return found


def stand_ins(facts: Mapping[str, Facts]) -> dict[str, type[Op]]:
    """Op classes that answer as recorded."""
    return {name: _stand_in(name, known) for name, known in facts.items()}


def _stand_in(name: str, known: Facts) -> type[Op]:
    def infer(self: Op, *types: TensorType) -> tuple[TensorType, ...]:
        outputs = known["answers"][_question(self, types)]["outputs"]
        return tuple(TensorType(dtype, _frozen(shape)) for dtype, shape in outputs)

    def views(self: Op, *types: TensorType) -> tuple[tuple[int, int, int], ...]:
        found: tuple[tuple[int, int, int], ...]
        found = _frozen(known["answers"][_question(self, types)]["views"])
        return found

    constants = {key: _frozen(value) for key, value in known["constants"].items()}
    defaults = {key: _frozen(value) for key, value in known["defaults"].items()}
    members = {"name": name, "infer": infer, "views": views, **constants, **defaults}
    return make_dataclass(
        name.title().replace("_", ""),
        [(field, Any) for field in known["fields"]],  # a member of that name is its default
        bases=(Op,),
        frozen=True,
        namespace=members,
    )


def _question(op: Op, types: Iterable[TensorType]) -> str:
    """Equal where the op and the types are, in any process."""
    attributes = [getattr(op, field.name) for field in fields(op)]
    return f"{attributes} on ({', '.join(map(str, types))})"


def _input_types(node: Node) -> tuple[TensorType, ...]:
    return tuple(v.type for v in node.inputs)


def _static(node: Node) -> bool:
    return all(t.static for t in _input_types(node))


def _frozen(data: Any) -> Any:
    """JSON has lists where Python has tuples."""
    return tuple(map(_frozen, data)) if isinstance(data, (list, tuple)) else data

"""The check, before anything is imported, that every operator of a model has a rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from onnx import FunctionProto, ModelProto, NodeProto

from byparts_frontend_onnx.errors import UnsupportedOp
from byparts_frontend_onnx.node import operator_of
from byparts_frontend_onnx.order import graphs_of
from byparts_frontend_onnx.rules import Rules
from byparts_frontend_onnx.schema_functions import has_schema_function
from byparts_graph_ir import FormatError

_NAMES = 3  # of nodes that an error says for each operator
_DEEPEST = 60


def check_supported(
    model: ModelProto,
    versions: Mapping[str, int],
    functions: Mapping[tuple[str, str], FunctionProto],
    rules: Rules,
) -> None:
    """Raise UnsupportedOp if operators have no rule.

    All of them are named, with how often they are there, and the first nodes.
    """
    missing: dict[str, list[str]] = {}

    def visit(nodes: Iterable[NodeProto], versions: Mapping[str, int], depth: int) -> None:
        if depth > _DEEPEST:
            raise FormatError(f"graphs stand more than {_DEEPEST} deep inside each other")
        for node in nodes:
            op, key = operator_of(node), (node.domain, node.op_type)
            version = versions.get("" if node.domain == "ai.onnx" else node.domain, 1)
            if op not in rules and key not in functions and not has_schema_function(
                node.op_type, node.domain, version
            ):  # fmt: skip
                missing.setdefault(op, []).append(node.name or ",".join(node.output))
            for graph in graphs_of(node):
                visit(graph.node, versions, depth + 1)

    visit(model.graph.node, versions, 0)
    for function in functions.values():
        visit(function.node, {o.domain: o.version for o in function.opset_import}, 0)
    if missing:
        plural = "s have" if len(missing) > 1 else " has"
        lines = "\n".join(_line(op, names) for op, names in sorted(missing.items()))
        raise UnsupportedOp(
            f"{len(missing)} operator{plural} no rule in byparts_frontend_onnx:\n{lines}"
        )


def _line(op: str, names: list[str]) -> str:
    more = ", ..." if len(names) > _NAMES else ""
    nodes = ", ".join(map(repr, names[:_NAMES]))
    return f'  {len(names)} x {op}, at {nodes}{more}; add a rule with @rules.on("{op}")'

"""`tf.graph_util`: parts of a `GraphDef`, and variables as constants in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.logging import info
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype
from byparts_tf_files.messages.graph import GraphDef, NodeDef
from byparts_tf_files.tensors import make_tensor_proto

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")
_READS = ("ReadVariableOp", "ResourceGather")


def _names(given: Any) -> list[str]:
    if isinstance(given, str):
        raise TypeError("dest_nodes must be a list.")
    return [str(n).partition(":")[0] for n in given]


def _source(given: str) -> str:
    return given.lstrip("^").partition(":")[0]


def _needed(nodes: Mapping[str, NodeDef], wanted: Sequence[str]) -> set[str]:
    """The nodes that others need, and themselves."""
    found, todo = set[str](), list(wanted)
    while todo:
        name = todo.pop()
        if name not in found and name in nodes:
            found.add(name)
            todo += map(_source, nodes[name].input)
    return found


def _part(graph_def: GraphDef, names: Collection[str]) -> GraphDef:
    made = GraphDef()
    made.node.extend([n for n in graph_def.node if n.name in names])
    made.library.CopyFrom(graph_def.library)
    made.versions.CopyFrom(graph_def.versions)
    return made


@symbol("graph_util.extract_sub_graph", "compat.v1.graph_util.extract_sub_graph")
def extract_sub_graph(graph_def: Any, dest_nodes: Any) -> GraphDef:
    """The nodes that `dest_nodes` need, and these.

    Raises:
        TypeError: it is no GraphDef, or the names are no list.
        AssertionError: a name is not in the graph.
    """
    if not isinstance(graph_def, GraphDef):
        raise TypeError("graph_def must be a graph_pb2.GraphDef proto.")
    nodes = {n.name: n for n in graph_def.node}
    wanted = _names(dest_nodes)
    for name in wanted:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
    return _part(graph_def, _needed(nodes, wanted))


@symbol("graph_util.convert_variables_to_constants")
def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Any,
    variable_names_whitelist: Optional[Collection[str]] = None,
    variable_names_blacklist: Optional[Collection[str]] = None,
) -> GraphDef:
    """The nodes that the outputs need, with the values that variables have in a session.

    Raises:
        AssertionError: an output is not in the graph.
        FailedPreconditionError: a variable has no value.
    """
    part = extract_sub_graph(input_graph_def, output_node_names)
    names = [n.name for n in part.node if n.op in _VARIABLES]
    if variable_names_whitelist is not None:
        names = [n for n in names if n in variable_names_whitelist]
    names = [n for n in names if n not in (variable_names_blacklist or ())]
    values = dict(zip(names, sess.run([f"{n}:0" for n in names]) if names else [], strict=True))
    made = GraphDef()
    made.node.extend([_frozen(n, values) for n in part.node])
    made.library.CopyFrom(part.library)
    made.versions.CopyFrom(part.versions)
    info("Froze %d variables.", len(values))
    info("Converted %d variables to const ops.", len(values))
    return made


def _frozen(node: NodeDef, values: Mapping[str, Any]) -> NodeDef:
    made = NodeDef()
    if node.name in values:
        kind = as_dtype(node.attr["dtype"].type)
        made.name, made.op = node.name, "Const"
        made.attr["dtype"].type = kind.as_datatype_enum
        made.attr["value"].tensor.CopyFrom(make_tensor_proto(values[node.name], kind))
        return made
    made.CopyFrom(node)
    if node.op in _READS and _source(node.input[0]) in values:
        gathers = node.op == "ResourceGather"
        made.op = "Gather" if gathers else "Identity"
        kind = as_dtype(node.attr["dtype"].type)
        made.attr.clear()
        made.attr["Tparams" if gathers else "T"].type = kind.as_datatype_enum
    return made


@symbol("graph_util.remove_training_nodes")
def remove_training_nodes(input_graph: GraphDef, protected_nodes: Any = None) -> GraphDef:
    """Without what only training needs: checks, and identities that nothing waits for."""
    kept = set(protected_nodes or ())
    checks = {n.name for n in input_graph.node if n.op == "CheckNumerics"} - kept
    nodes = [_without(n, checks) for n in input_graph.node if n.name not in checks]
    waited_for = {_source(i) for n in nodes for i in n.input if i.startswith("^")}
    gone = {
        n.name: n.input[0]
        for n in nodes
        if n.op == "Identity"
        and n.name not in kept | waited_for
        and not any(i.startswith("^") for i in n.input)
    }
    made = GraphDef()
    for node in nodes:
        if node.name not in gone:
            inputs = [_followed(i, gone) for i in node.input]
            del node.input[:]
            node.input.extend(inputs)
            made.node.append(node)
    made.library.CopyFrom(input_graph.library)
    made.versions.CopyFrom(input_graph.versions)
    return made


def _without(node: NodeDef, checks: Collection[str]) -> NodeDef:
    """A copy of a node that does not wait for checks."""
    made = NodeDef()
    made.CopyFrom(node)
    del made.input[:]
    made.input.extend([i for i in node.input if _source(i) not in checks])
    return made


def _followed(given: str, gone: Mapping[str, str]) -> str:
    """Follow the name of an input through identities that are gone, to what they copy."""
    while not given.startswith("^") and _source(given) in gone:
        given = gone[_source(given)]
    return given


@symbol("graph_util.tensor_shape_from_node_def_name")
def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> Any:
    """Static shape of the tensor of a graph that a name refers to."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).get_shape()


@symbol("graph_util.must_run_on_cpu")
def must_run_on_cpu(node: Any, pin_variables_on_cpu: bool = False) -> bool:
    """Whether a node holds texts, or is a variable that is asked to be on the CPU."""
    definition = getattr(node, "node_def", node)
    if pin_variables_on_cpu and definition.op in _VARIABLES:
        return True
    given = definition.attr["dtype"].type if "dtype" in definition.attr else None
    return given is not None and as_dtype(given).name == "string"

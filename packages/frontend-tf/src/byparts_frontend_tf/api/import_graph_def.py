"""`tf.import_graph_def`: a graph that is in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.node_defs.read import GraphReader
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.damage import refusing
from byparts_tf_files.messages.graph import GraphDef


@symbol("import_graph_def", "graph_util.import_graph_def")
def import_graph_def(
    graph_def: Any,
    input_map: Optional[Mapping[str, Any]] = None,
    return_elements: Any = None,
    name: Optional[str] = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> Any:
    """Make the operations of a `GraphDef` in the default graph.

    A node of a type that is not here is an operation that is refused when a run needs it.

    Args:
        graph_def: of a file, or of `Graph.as_graph_def`.
        input_map: names of tensors of it -> tensors that stand for them.
        return_elements: names of operations and tensors ("x:0") to return.
        name: of the scope, "import" by default; "" is none.
        op_dict: accepted.
        producer_op_list: accepted.

    Returns:
        The elements asked for, or `None`.

    Raises:
        TypeError: it is no GraphDef; the map is none, or what stands in it is no tensor.
        ValueError: a node is damaged, or names are not there.
    """
    message = _graph_def(graph_def)
    given = _input_map(input_map)
    wanted = _names(return_elements)
    tensors = [v for v in given.values() if not isinstance(v, Operation)]
    with name_scope(name, "import", tensors) as scope:
        mapped = {
            k: v if isinstance(v, Operation) else convert_to_tensor(v) for k, v in given.items()
        }
        with refusing("graph_def"):
            reader = GraphReader(get_default_graph(), message, scope, mapped)
            reader.make_all()
        _check_used(reader, mapped)
        found = [_element(reader, n) for n in wanted or ()]
    return None if wanted is None else found


def _graph_def(given: Any) -> GraphDef:
    if isinstance(given, GraphDef):
        return given
    raise TypeError(f"graph_def must be a GraphDef proto, not {type(given).__name__}.")


def _input_map(given: Any) -> dict[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(k, str) for k in given):
        raise TypeError("input_map must be a dictionary mapping strings to Tensor objects.")
    return dict(given)


def _names(given: Any) -> Optional[list[str]]:
    if given is None:
        return None
    names = list(given)
    if isinstance(given, str) or not all(isinstance(n, (str, bytes)) for n in names):
        raise TypeError("return_elements must be a list of strings.")
    return [n.decode() if isinstance(n, bytes) else n for n in names]


def _check_used(reader: Any, mapped: Mapping[str, Any]) -> None:
    missing = [
        k
        for k in mapped
        if k not in reader.used and k.lstrip("^").partition(":")[0] not in reader.nodes
    ]
    if missing:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(missing)}]"
        )


def _element(reader: Any, name: str) -> Any:
    node = name.partition(":")[0]
    if node not in reader.nodes and name not in reader.mapped:
        raise ValueError(f"Requested return_element {name!r} not found in graph_def.")
    return reader.tensor(name) if ":" in name else reader.operation(name)

"""`tensorflow.python.tools`: a graph and its checkpoint as one file; what a checkpoint holds."""

from __future__ import annotations

import re
from typing import Any, Optional

from byparts_frontend_tf.api.graph_util import convert_variables_to_constants
from byparts_frontend_tf.api.import_graph_def import import_graph_def
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.running.session import Session
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.gfile import GFile
from byparts_tf_files.messages.graph import GraphDef
from byparts_tf_files.text_format import Merge

_TOOLS = "python.tools"


@symbol(f"{_TOOLS}.freeze_graph.freeze_graph")
def freeze_graph(
    input_graph: str,
    input_saver: str,
    input_binary: bool,
    input_checkpoint: str,
    output_node_names: str,
    restore_op_name: Optional[str],
    filename_tensor_name: Optional[str],
    output_graph: str,
    clear_devices: bool,
    initializer_nodes: str = "",
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: Any = None,
    **_: Any,
) -> GraphDef:
    """Write the graph of a file with the values of a checkpoint as constants.

    Raises:
        IOError: a file is not there.
        NotFoundError: the checkpoint lacks a variable.
    """
    message = GraphDef()
    with GFile(input_graph, "rb" if input_binary else "r") as file:
        if input_binary:
            message.ParseFromString(file.read())
        else:
            Merge(file.read(), message)
    if clear_devices:
        for node in message.node:
            node.device = ""
    saved = read_checkpoint(input_checkpoint)
    with Graph().as_default() as graph, Session(graph=graph) as session:
        import_graph_def(message, name="")
        for op in graph.get_operations():
            if op.type == "VariableV2" and op.name in saved:
                session.variables.write(op, saved[op.name], op.name)
        frozen = convert_variables_to_constants(
            session,
            message,
            re.sub(r"\s", "", output_node_names).split(","),
            variable_names_whitelist.split(",") if variable_names_whitelist else None,
            variable_names_blacklist.split(",") if variable_names_blacklist else None,
        )
    if output_graph:
        with GFile(output_graph, "wb") as file:
            file.write(frozen.SerializeToString())
    return frozen


@symbol(f"{_TOOLS}.inspect_checkpoint.print_tensors_in_checkpoint_file")
def print_tensors_in_checkpoint_file(
    file_name: str,
    tensor_name: Optional[str],
    all_tensors: bool,
    all_tensor_names: bool = False,
    count_exclude_pattern: str = "",
) -> None:
    """Print what a checkpoint holds: one tensor, all of them, or their dtypes and shapes."""
    saved = read_checkpoint(file_name)
    if not tensor_name and not all_tensors and not all_tensor_names:
        for name in sorted(saved):
            print(f"{name} ({saved.dtype(name).name}) {list(saved.dims(name))}")
        return
    names = sorted(saved) if all_tensors or all_tensor_names else [str(tensor_name)]
    for name in names:
        print("tensor_name: ", name)
        if not all_tensor_names:
            print(saved[name])

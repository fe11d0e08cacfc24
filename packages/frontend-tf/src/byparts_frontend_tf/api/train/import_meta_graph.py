"""`tf.train.import_meta_graph`: a graph with its collections, from a file."""

from __future__ import annotations

import os
from typing import Any, Optional

from byparts_frontend_tf.api.import_graph_def import import_graph_def
from byparts_frontend_tf.api.train.export_meta_graph import LEFT_OUT
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.api.train.saver_ops import SaverOperations
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_files.damage import refusing
from byparts_tf_files.message import DecodeError
from byparts_tf_files.messages.meta_graph import (
    CollectionDef,
    MetaGraphDef,
    QueueRunnerDef,
    VariableDef,
)
from byparts_tf_files.paths import local_path
from byparts_tf_files.system_errors import as_tensorflow_errors
from byparts_tf_files.text_format import Parse, ParseError

_OF_VARIABLES = (
    *("variables", "local_variables", "model_variables", "trainable_variables"),
    *("moving_average_variables", "metric_variables", "concatenated_variables"),
    *("global_step", "eval_step"),
)


def read_meta_graph(given: Any) -> MetaGraphDef:
    """The message of a file, binary or text, or that is given.

    Raises:
        OSError: there is no such file, or it is none.
    """
    if isinstance(given, MetaGraphDef):
        return given
    path = local_path(given)
    if not os.path.isfile(path):
        raise OSError(f"File {path} does not exist.")
    with as_tensorflow_errors(path), open(path, "rb") as file:
        data = file.read()
    try:
        return MetaGraphDef.FromString(data)
    except DecodeError:
        pass
    try:
        return Parse(data.decode(), MetaGraphDef())
    except (ParseError, UnicodeDecodeError) as error:
        raise OSError(f"Cannot parse file {path}: {error}.") from error


@symbol("train.import_meta_graph")
def import_meta_graph(
    meta_graph_or_file: Any,
    clear_devices: bool = False,
    import_scope: Optional[str] = None,
    **kwargs: Any,
) -> Any:
    """Make the operations and collections of a message or file in the default graph.

    Args:
        meta_graph_or_file: a `MetaGraphDef`, or a path.
        clear_devices: whether devices are left out.
        import_scope: of all names.
        kwargs: `input_map`, `return_elements` of `import_graph_def`.

    Returns:
        A saver of the variables that were saved, or `None` where there are none.
    """
    message = read_meta_graph(meta_graph_or_file)
    saved = add_meta_graph(message, clear_devices, import_scope, kwargs.get("input_map"))
    if message.HasField("saver_def"):
        with refusing("a meta graph"):
            return Saver(saver_def=message.saver_def, name=import_scope)
    return Saver(saved) if saved else None


def add_meta_graph(
    message: MetaGraphDef,
    clear_devices: bool = False,
    scope: Optional[str] = None,
    input_map: Any = None,
) -> dict[str, Variable]:
    """Make what a message holds in the default graph; name in the checkpoint -> variable.

    Raises:
        ValueError: it is damaged; what is missing.
    """
    with refusing("a meta graph"):
        return _added(message, clear_devices, scope, input_map)


def _added(
    message: MetaGraphDef, clear_devices: bool, scope: Optional[str], input_map: Any
) -> dict[str, Variable]:
    graph_def = message.graph_def
    if clear_devices:
        for node in graph_def.node:
            node.device = ""
    import_graph_def(graph_def, name=scope or "", input_map=input_map)
    variables: dict[str, Variable] = {}
    for key in _OF_VARIABLES:
        if key in message.collection_def:
            _variables(message.collection_def[key], key, scope, variables)
    for key, found in message.collection_def.items():
        if key not in (*_OF_VARIABLES, *LEFT_OUT):
            _decode(key, found, scope)
    if message.HasField("saver_def"):
        return SaverOperations.named(message.saver_def, scope).variables
    start = f"{scope}/" if scope else ""
    in_file = message.collection_def[GraphKeys.GLOBAL_VARIABLES].bytes_list.value
    names = [VariableDef.FromString(v).variable_name.partition(":")[0] for v in in_file]
    return {n: variables[start + n] for n in names if start + n in variables}


def _variables(
    found: CollectionDef, key: str, scope: Optional[str], variables: dict[str, Variable]
) -> None:
    graph = get_default_graph()
    for data in found.bytes_list.value:
        message = VariableDef.FromString(data)
        name = (f"{scope}/" if scope else "") + message.variable_name.partition(":")[0]
        if name not in variables:
            variables[name] = Variable.from_proto(message, scope)
        graph.add_to_collection(key, variables[name])
    for name in found.node_list.value:
        graph.add_to_collection(key, _element(name, scope))


def _element(name: str, scope: Optional[str]) -> Any:
    return get_default_graph().as_graph_element(f"{scope}/{name}" if scope else name)


def _decode(key: str, found: CollectionDef, scope: Optional[str]) -> None:
    graph, kind = get_default_graph(), found.WhichOneof("kind")
    if kind is None or kind == "any_list":
        return
    values: list[Any] = list(getattr(found, kind).value)
    if kind == "node_list":
        values = [_element(name, scope) for name in values]
    elif key == GraphKeys.QUEUE_RUNNERS:
        runner = named("train.QueueRunner")  # of tf-input
        values = [runner.from_proto(QueueRunnerDef.FromString(v), scope) for v in values]
    for value in values:
        graph.add_to_collection(key, value)

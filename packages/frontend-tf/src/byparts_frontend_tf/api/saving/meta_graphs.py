"""Graphs with their collections in files: `export_meta_graph`, `import_meta_graph`, `.meta`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.program import tf_logging as logging
from byparts_frontend_tf.api.saving.importing import import_graph_def
from byparts_frontend_tf.api.saving.saver import Saver
from byparts_frontend_tf.api.saving.saver_ops import SaverOperations
from byparts_frontend_tf.api.variables.variables import Variable
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_files.atomic import replace_file
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
from byparts_tf_files.text_format import MessageToString, Parse, ParseError

_OF_VARIABLES = (
    *("variables", "local_variables", "model_variables", "trainable_variables"),
    *("moving_average_variables", "metric_variables", "concatenated_variables"),
    *("global_step", "eval_step"),
)
_LEFT_OUT = ("savers", "cond_context", "while_context")


@symbol("train.export_meta_graph")
def export_meta_graph(
    filename: Any = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Optional[Sequence[str]] = None,
    as_text: bool = False,
    graph: Optional[Graph] = None,
    export_scope: Optional[str] = None,
    clear_devices: bool = False,
    **more: Any,
) -> MetaGraphDef:
    """The graph with its collections as a message, written into a file if one is named.

    Args:
        filename: where it is written.
        meta_info_def: put into it.
        graph_def: instead of that of the graph.
        saver_def: put into it.
        collection_list: which collections; by default all.
        as_text: whether the file is text.
        graph: by default the default graph.
        export_scope: only what is in it, without its name.
        clear_devices: whether devices are left out.
        more: accepted.
    """
    graph = graph or get_default_graph()
    made = MetaGraphDef()
    if meta_info_def is not None:
        made.meta_info_def.CopyFrom(meta_info_def)
    made.meta_info_def.tensorflow_version = "1.15.0"
    whole = graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def
    made.graph_def.CopyFrom(_inside(whole, export_scope) if export_scope else whole)
    if clear_devices:
        for node in made.graph_def.node:
            node.device = ""
    if saver_def is not None:
        made.saver_def.CopyFrom(saver_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        if isinstance(key, str) and key not in _LEFT_OUT:
            _encode(made, key, graph.get_collection(key), export_scope)
    if filename is not None:
        path = local_path(filename)
        text = MessageToString(made).encode() if as_text else made.SerializeToString()
        replace_file(path, text)
    return made


def _inside(message: Any, scope: str) -> Any:
    """The nodes of a scope, without its name."""
    start, made = f"{scope.rstrip('/')}/", type(message)()
    made.versions.CopyFrom(message.versions)
    for node in message.node:
        if node.name.startswith(start):
            new = made.node.add()
            new.CopyFrom(node)
            new.name = node.name[len(start) :]
            del new.input[:]
            new.input.extend([_cut(i, start) for i in node.input])
    return made


def _cut(name: str, start: str) -> str:
    mark = "^" if name.startswith("^") else ""
    return mark + name[len(mark) :].removeprefix(start)


def _encode(made: MetaGraphDef, key: str, values: Sequence[Any], scope: Optional[str]) -> None:
    """Add a collection, unless what is in it cannot be written."""
    found = CollectionDef()
    if not values:
        return
    if all(isinstance(v, (Tensor, Operation)) for v in values):
        start = f"{scope}/" if scope else ""
        inside = [v.name for v in values if v.name.startswith(start)]
        found.node_list.value.extend([name[len(start) :] for name in inside])
    elif all(hasattr(v, "to_proto") for v in values):
        protos = [v.to_proto(export_scope=scope) for v in values]
        found.bytes_list.value.extend([p.SerializeToString() for p in protos if p is not None])
    elif all(isinstance(v, (str, bytes)) for v in values):
        texts = [v.encode() if isinstance(v, str) else v for v in values]
        found.bytes_list.value.extend(texts)
    elif all(isinstance(v, (int, np.integer)) for v in values):
        found.int64_list.value.extend([int(v) for v in values])
    elif all(isinstance(v, (float, np.floating)) for v in values):
        found.float_list.value.extend([float(v) for v in values])
    else:
        logging.warning(
            "Error encountered when serializing %s.\nType is unsupported, or the types of the "
            "items don't match field type in CollectionDef. Note this is a warning and probably "
            "safe to ignore.",
            key,
        )
        return
    made.collection_def[key].CopyFrom(found)


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
        if key not in (*_OF_VARIABLES, *_LEFT_OUT):
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

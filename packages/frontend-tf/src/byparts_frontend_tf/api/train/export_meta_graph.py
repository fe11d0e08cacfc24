"""From a graph with its collections to a `MetaGraphDef`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.graph.graph import Graph
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.stack import get_default_graph
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.atomic import replace_file
from byparts_tf_files.messages.meta_graph import CollectionDef, MetaGraphDef
from byparts_tf_files.paths import local_path
from byparts_tf_files.text_format import MessageToString

LEFT_OUT = ("savers", "cond_context", "while_context")  # collections that are not written


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
        if isinstance(key, str) and key not in LEFT_OUT:
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

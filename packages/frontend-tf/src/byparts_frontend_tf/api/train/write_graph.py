"""`tf.train.write_graph`: a graph as a file."""

from __future__ import annotations

import os
from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.atomic import replace_file
from byparts_tf_files.file_system import make_directories
from byparts_tf_files.paths import local_path
from byparts_tf_files.text_format import MessageToString


@symbol("train.write_graph", "io.write_graph")
def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Write a graph, or the message of one, as text or as bytes; the path.

    Raises:
        OpError: it cannot be written.
    """
    graph = graph_or_graph_def
    message = graph.as_graph_def() if hasattr(graph, "as_graph_def") else graph
    make_directories(logdir)
    path = os.path.join(local_path(logdir), name)
    data = MessageToString(message).encode() if as_text else message.SerializeToString()
    replace_file(path, data)
    return path

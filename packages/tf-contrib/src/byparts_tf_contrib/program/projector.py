"""`tf.contrib.tensorboard.plugins.projector`: which embeddings TensorBoard shows."""

from __future__ import annotations

import os
from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.atomic import replace_file
from byparts_tf_files.messages.projector import ProjectorConfig
from byparts_tf_files.text_format import MessageToString

_PLACE = "contrib.tensorboard.plugins.projector"


@symbol(f"{_PLACE}.visualize_embeddings")
def visualize_embeddings(summary_writer: Any, config: ProjectorConfig) -> None:
    """Write what the projector is to show beside the event files of a writer.

    Raises:
        ValueError: the writer has no folder.
    """
    folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    path = os.path.join(folder, "projector_config.pbtxt")
    replace_file(path, MessageToString(config).encode())


SYMBOLS = {
    f"{_PLACE}.{name}": f"byparts_tf_files.messages.projector:{name}"
    for name in ("ProjectorConfig", "EmbeddingInfo", "SpriteMetadata")
}

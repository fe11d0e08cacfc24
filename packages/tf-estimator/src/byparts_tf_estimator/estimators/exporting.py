"""A trained model as a saved model: a graph of one mode, its signatures and its variables."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from typing import Any, Optional

from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.symbols import named
from byparts_tf_estimator.estimators.spec import EstimatorSpec


def export(
    spec: EstimatorSpec,
    receiver: Any,
    checkpoint_path: str,
    base: Any,
    assets_extra: Optional[dict[str, str]],
    as_text: bool,
) -> bytes:
    """Write a saved model into a folder in `base` that is named by the time; its path.

    Raises:
        ValueError: the model has no outputs to export.
    """
    if not spec.export_outputs:
        raise ValueError("export_outputs must be a dict and not" + f" {spec.export_outputs}")
    signatures = {}
    for key, output in spec.export_outputs.items():
        with suppress(ValueError):  # what is fed is not serialized examples
            signatures[key] = output.as_signature_def(receiver.receiver_tensors)
    folder = new_folder(base)
    builder = named("saved_model.builder.SavedModelBuilder")(folder)
    with named("Session")() as session:
        saver = spec.scaffold.saver or Saver()
        saver.restore(session, checkpoint_path)
        local = spec.scaffold.local_init_op
        builder.add_meta_graph_and_variables(
            session, ["serve"], signature_def_map=signatures, main_op=local
        )
        builder.save(as_text)
    for name, path in (assets_extra or {}).items():
        target = os.path.join(folder, "assets.extra", name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copyfile(path, target)
    return folder.encode()


def new_folder(base: Any) -> str:
    """A path in `base` that is not there: the time in seconds, or the next number that is free."""
    number = int(time.time())
    root = base.decode() if isinstance(base, bytes) else os.fspath(base)
    while os.path.exists(os.path.join(root, str(number))):
        number += 1
    return os.path.join(root, str(number))

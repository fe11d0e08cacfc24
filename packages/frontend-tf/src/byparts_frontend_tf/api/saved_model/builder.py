"""`tf.saved_model`: graphs with their variables and signatures in a folder, written and read."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from typing import Any, Optional

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.api.identity import group
from byparts_frontend_tf.api.saved_model.signatures import (
    constants,
    predict_signature_def,
    signatures,
)
from byparts_frontend_tf.api.train.export_meta_graph import export_meta_graph
from byparts_frontend_tf.api.train.import_meta_graph import add_meta_graph
from byparts_frontend_tf.api.train.reading_only import check_writes_nothing
from byparts_frontend_tf.api.train.saver import Saver
from byparts_frontend_tf.api.variables.variable_lists import (
    global_variables_initializer,
    local_variables_initializer,
)
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import named, symbol
from byparts_graph_ir import FormatError
from byparts_tf_files.checkpoint_reader import list_variables
from byparts_tf_files.errors import NotFoundError
from byparts_tf_files.messages.meta_graph import MetaGraphDef, SavedModel
from byparts_tf_files.paths import local_path
from byparts_tf_files.saved_model import (
    ASSETS,
    VARIABLES,
    meta_graph_of,
    read_saved_model,
    variables_path,
    write_saved_model,
)
from byparts_tf_files.written import is_below


@symbol(
    *("saved_model.builder.SavedModelBuilder", "saved_model.Builder"),
    "python.saved_model.builder.SavedModelBuilder",
)
class SavedModelBuilder:
    """Writes a saved model into a new folder.

    Raises:
        AssertionError: the folder has files.
    """

    def __init__(self, export_dir: Any) -> None:
        self._folder = local_path(export_dir)
        if os.path.isdir(self._folder) and os.listdir(self._folder):
            raise AssertionError(
                "Export directory already exists, and isn't empty. Please choose a different "
                "export directory, or delete all the contents of the specified directory: "
                f"{self._folder}"
            )
        self._model = SavedModel(saved_model_schema_version=1)
        self._has_variables = False

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Optional[Mapping[str, Any]] = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
        **more: Any,
    ) -> None:
        """Add the graph of a session, and write the values of its variables.

        Args:
            sess: the session.
            tags: of the graph.
            signature_def_map: key -> signature.
            assets_collection: tensors of names of files, which are copied.
            legacy_init_op: run when the model is loaded.
            clear_devices: whether devices are left out.
            main_op: as `legacy_init_op`.
            strip_default_attrs: accepted.
            saver: of the variables; by default of all global ones.
            more: accepted.

        Raises:
            AssertionError: there are variables already.
        """
        if self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        os.makedirs(os.path.join(self._folder, VARIABLES), exist_ok=True)
        with sess.graph.as_default():
            saver = saver or Saver(allow_empty=True)
            saver.save(
                sess, variables_path(self._folder), write_meta_graph=False, write_state=False
            )
            self._has_variables = True
            first = main_op if main_op is not None else legacy_init_op
            how = (assets_collection, first, clear_devices)
            self._add(tags, signature_def_map, *how)

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Optional[Mapping[str, Any]] = None,
        assets_collection: Any = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
        **more: Any,
    ) -> None:
        """Add the default graph, of the same variables.

        Raises:
            AssertionError: there are no variables yet.
        """
        if not self._has_variables:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        first = main_op if main_op is not None else legacy_init_op
        self._add(tags, signature_def_map, assets_collection, first, clear_devices)

    def _add(self, tags: Any, found: Any, assets: Any, first: Any, clear_devices: bool) -> None:
        made = export_meta_graph(clear_devices=clear_devices)
        made.meta_info_def.tags.extend([str(tag) for tag in tags])
        for key, signature in (found or {}).items():
            made.signature_def[key].CopyFrom(signature)
        for tensor in assets or ():
            self._copy_asset(made, tensor)
        if first is not None:
            made.collection_def[constants.MAIN_OP_KEY].node_list.value.append(first.name)
        self._model.meta_graphs.append(made)

    def _copy_asset(self, made: MetaGraphDef, tensor: Any) -> None:
        path = static_value(tensor)
        if path is None:
            raise ValueError(f"{tensor}: an asset has to be a constant")
        text = path.item() if hasattr(path, "item") else path
        source = text.decode() if isinstance(text, bytes) else str(text)
        folder = os.path.join(self._folder, ASSETS)
        os.makedirs(folder, exist_ok=True)
        shutil.copyfile(source, os.path.join(folder, os.path.basename(source)))
        asset = made.asset_file_def.add(filename=os.path.basename(source))
        asset.tensor_info.name = tensor.name

    def save(self, as_text: bool = False) -> bytes:
        """Write the graphs; the path of the file."""
        path = write_saved_model(self._folder, self._model, as_text)
        logging.info("SavedModel written to: %s", path)
        return path.encode()


@symbol(
    *("saved_model.loader.load", "saved_model.load", "python.saved_model.loader.load"),
)
def load(sess: Any, tags: Iterable[str], export_dir: Any, import_scope: Any = None) -> MetaGraphDef:
    """Make the graph of a saved model in that of the session, with its variables; its message.

    Args:
        sess: the session.
        tags: of the graph in the saved model.
        export_dir: the folder.
        import_scope: of all names.

    Raises:
        OSError: the folder has no saved model.
        RuntimeError: it has no graph with these tags.
        ValueError: it is damaged, names a file outside the folder, or an operation to be run that
            writes files.
    """
    found = meta_graph_of(read_saved_model(export_dir), tags)
    path = variables_path(export_dir)
    start = f"{import_scope}/" if import_scope else ""
    with sess.graph.as_default():
        saved = add_meta_graph(found, scope=import_scope)
        if saved:
            _restore(sess, saved, path)
        else:
            logging.info("The specified SavedModel has no variables; no checkpoints were restored.")
        feeds = {
            start + a.tensor_info.name: _asset_path(export_dir, a.filename)
            for a in found.asset_file_def
        }
        for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
            if key in found.collection_def:
                for name in found.collection_def[key].node_list.value:
                    element = sess.graph.as_graph_element(start + name)
                    check_writes_nothing(getattr(element, "op", element), "the saved model")
                    sess.run(start + name, feed_dict=feeds)
                break
    return found


def _asset_path(export_dir: Any, name: str) -> str:
    """The path of a file of a saved model, in the folder of such files."""
    folder = os.path.join(local_path(export_dir), ASSETS)
    path = os.path.join(folder, name)
    if "\0" in name or not is_below(path, folder):
        raise FormatError(
            f"the saved model names {name!r:.80}, which is not in its folder {ASSETS!r}"
        )
    return path


def _restore(sess: Any, saved: dict[str, Any], path: str) -> None:
    there = list_variables(path)
    missing = [name for name in saved if name not in dict(there)]
    if missing and len(missing) == len(saved):
        raise NotFoundError(None, None, f"{path} has none of the variables {sorted(saved)[:5]}")
    Saver({n: v for n, v in saved.items() if n not in missing}).restore(sess, path)


@symbol("saved_model.simple_save")
def simple_save(
    session: Any,
    export_dir: Any,
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:
    """Write a saved model of a session that takes `inputs` and gives `outputs`, tensors by name."""
    with session.graph.as_default():
        key = signatures.DEFAULT_SERVING_SIGNATURE_DEF_KEY
        builder = SavedModelBuilder(export_dir)
        builder.add_meta_graph_and_variables(
            session,
            tags=["serve"],
            signature_def_map={key: predict_signature_def(dict(inputs), dict(outputs))},
            assets_collection=session.graph.get_collection(GraphKeys.ASSET_FILEPATHS),
            main_op=legacy_init_op,
        )
        builder.save()


@symbol("saved_model.main_op.main_op")
def main_op() -> Any:
    """An operation that gives all variables and tables their first values."""
    first = [global_variables_initializer(), local_variables_initializer()]
    return group(*first, named("tables_initializer")())

"""Damaged graphs and models are refused in a sentence; what a file names to be run writes nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import byparts_frontend_tf as tf
from byparts_graph_ir import FormatError
from byparts_tf_files.damage import refusing

RECORDED = Path(__file__).parents[2] / "tf-files/tests/recorded"
layers: Any = tf.keras.layers


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _node(op: str, *inputs: str, **attributes: int) -> Any:
    graph_def = tf.GraphDef()
    first = graph_def.node.add(name="x", op="Placeholder")
    first.attr["dtype"].type = 1
    node = graph_def.node.add(name="n", op=op, input=list(inputs))
    for key, value in attributes.items():
        node.attr[key].i = value
    return graph_def


@pytest.mark.parametrize("op", ["Identity", "Exit", "Switch", "RefSwitch", "Add", "Conv2D", "Pack"])
def test_a_node_without_inputs_is_refused(op: str) -> None:
    """Each kind of node that reads something."""
    with pytest.raises(ValueError, match=r"node 'n' \(\w+\)|graph_def is damaged: "):
        tf.import_graph_def(_node(op))


@pytest.mark.parametrize("op", ["Enter", "Merge", "NextIteration", "LoopCond"])
def test_a_part_of_a_loop_that_nothing_feeds_is_no_loop(op: str) -> None:
    """Nothing reads it, and it is left out or refused: no error of Python's."""
    with suppress(ValueError):
        tf.import_graph_def(_node(op))


@pytest.mark.parametrize(
    ("graph_def", "words"),
    [
        (_node("Identity", "x:2000000000"), r"ask for more than 10\d00 outputs"),
        (_node("Nonsense", "x:999999"), r"ask for more than 10\d00 outputs"),
        (_node("Unpack", "x", num=1 << 31), r"ask for more than 10\d00 outputs"),
        (_node("Split", "x", "x", num_split=1 << 31), r"ask for more than 10\d00 outputs"),
        (
            _node("DynamicPartition", "x", "x", num_partitions=1 << 31),
            r"ask for more than 10\d00 outputs",
        ),
        (_node("Identity", "x:1:2"), "invalid literal"),
        (_node("Identity", ""), "Unknown input node ''"),
        (tf.GraphDef(node=[{"op": "NoOp"}]), "a node of type 'NoOp' has no name"),
        (tf.GraphDef(node=[{"name": "a", "op": "Switch", "input": ["a", "a"]}]), "need each other"),
    ],
)
def test_a_damaged_graph_is_refused(graph_def: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tf.import_graph_def(graph_def)


def _without_tensor(message: Any) -> None:
    message.saver_def.filename_tensor_name = "nothing:0"


def _without_operation(message: Any) -> None:
    message.saver_def.restore_op_name = "nothing"


def _without_variable(message: Any) -> None:
    variable = tf.core.framework.variable_pb2.VariableDef(variable_name="v:0", initializer_name="i")
    message.collection_def["variables"].bytes_list.value[0] = variable.SerializeToString()


def _without_element(message: Any) -> None:
    message.collection_def["ends"].node_list.value[0] = "nothing:0"


def _with_other_bytes(message: Any) -> None:
    message.collection_def["variables"].bytes_list.value[0] = b"\xff\xff"


@pytest.mark.parametrize(
    "damage",
    [_without_tensor, _without_operation, _without_variable, _without_element, _with_other_bytes],
)
def test_a_damaged_meta_graph_is_refused(tmp_path: Path, damage: Callable[[Any], None]) -> None:
    """Whatever its names are of."""
    with tf.Graph().as_default():
        tf.add_to_collection("ends", tf.get_variable("w", [2]) + 1.0)
        message = tf.train.Saver().export_meta_graph()
    damage(message)
    (tmp_path / "m.meta").write_bytes(message.SerializeToString())

    with pytest.raises(ValueError, match=r"a meta graph is damaged: |byte \d+: "):
        tf.train.import_meta_graph(str(tmp_path / "m.meta"))


def _model() -> dict[str, Any]:
    words = layers.Input((5,), dtype="int32")
    hidden = layers.LSTM(3)(layers.Embedding(7, 4)(words))
    model: dict[str, Any] = json.loads(tf.keras.Model(words, layers.Dense(2)(hidden)).to_json())
    return model


def _image() -> dict[str, Any]:
    made = [layers.Conv2D(2, 3, input_shape=(8, 8, 1)), layers.Flatten(), layers.Dense(3)]
    model: dict[str, Any] = json.loads(tf.keras.Sequential(made).to_json())
    return model


def _set(path: str, value: Any) -> Callable[[Any], None]:
    """Put a value at a path of a configuration."""

    def change(model: Any) -> None:
        *before, last = [int(k) if k.isdigit() else k for k in path.split("/")]
        for key in before:
            model = model[key]
        model[last] = value

    return change


_CHANGES = {
    "no layers": (_model, _set("config", {})),
    "layers are a number": (_model, _set("config/layers", 3)),
    "a class is a list": (_model, _set("config/layers/1/class_name", ["Dense"])),
    "a name is a list": (_model, _set("config/layers/1/config/name", ["x"])),
    "a configuration is a list": (_model, _set("config/layers/1/config", [])),
    "a call of nothing": (_model, _set("config/layers/1/inbound_nodes", [[[]]])),
    "a call of another layer": (_model, _set("config/layers/1/inbound_nodes", [[["x", 0, 0, {}]]])),
    "an output too far": (_model, _set("config/output_layers", [["dense", 0, 9]])),
    "an initializer is a number": (
        _model,
        _set("config/layers/1/config/embeddings_initializer", 5),
    ),
    "a size of 10**40": (_image, _set("config/layers/0/config/batch_input_shape/1", 10**40)),
    "a stride of nothing": (_image, _set("config/layers/0/config/strides", [0, 0])),
    "a kernel of text": (_image, _set("config/layers/0/config/kernel_size", ["a", {}])),
    "units of text": (_image, _set("config/layers/2/config/units", {"a": 1})),
    "a dtype that is none": (_image, _set("config/layers/2/config/dtype", "f32[2]")),
    "a data format of nothing": (_image, _set("config/layers/0/config/data_format", {"x": 1})),
    "no configuration": (_image, _set("config", None)),
}


@pytest.mark.parametrize("name", _CHANGES)
def test_a_damaged_model_of_json_is_refused(name: str) -> None:
    make, change = _CHANGES[name]
    model = make()
    change(model)

    with pytest.raises(ValueError, match=r"\w+ \w+|improper"):
        tf.keras.models.model_from_json(json.dumps(model))


def test_json_that_is_too_deep_is_refused() -> None:
    with pytest.raises(FormatError, match="the JSON of a model is damaged: things in things"):
        tf.keras.models.model_from_json("[" * 100_000)


@pytest.mark.parametrize("lost", ["layer_names", "model_config", "training_config", ""])
def test_a_damaged_file_of_a_model_is_refused(tmp_path: Path, lost: str) -> None:
    """An attribute that is a number; all arrays are gone."""
    path = tmp_path / "m.h5"
    model = tf.keras.Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse")
    model.save(str(path))
    with np.load(path) as file:
        arrays = dict(file)
    said = json.loads(arrays["attributes"].tobytes())
    for attributes in said.values():
        if lost in attributes:
            attributes[lost] = "7"
    kept = arrays if lost else {}
    kept["attributes"] = np.frombuffer(json.dumps(said).encode(), np.uint8)
    with path.open("wb") as out:
        np.savez(out, **kept)

    with pytest.raises(ValueError, match=r"m.h5 is damaged: |weight file|interpret serialized"):
        tf.keras.models.load_model(str(path))


def test_what_is_refused_already_stays_as_it_is() -> None:
    """Errors that have a sentence are not said again."""

    def fail(error: Exception) -> None:
        with refusing("m.json"):
            raise error

    with pytest.raises(ValueError, match=r"^a sentence$"):
        fail(ValueError("a sentence"))
    with pytest.raises(FormatError, match=r"^m.json is damaged: 'layers' is missing$"):
        fail(KeyError("layers"))
    with pytest.raises(FormatError, match=r"^m.json is damaged: something is missing \(list"):
        fail(IndexError("list index out of range"))


def _write(path: Path) -> Any:
    return tf.write_file(str(path), "overwritten")


def _print(path: Path) -> Any:
    return tf.print(tf.constant(1), output_stream=f"file://{path}")


def _in_a_branch(path: Path) -> Any:
    def branch() -> Any:
        with tf.control_dependencies([_write(path)]):
            return tf.constant(1.0)

    return tf.cond(tf.constant(1.0) > 0, branch, lambda: tf.constant(2.0)).op


@pytest.mark.parametrize("kind", [_write, _print, _in_a_branch])
def test_a_saved_model_writes_no_file_when_it_is_loaded(
    tmp_path: Path, kind: Callable[[Path], Any]
) -> None:
    """It names an operation that is run then."""
    (tmp_path / "thesis.txt").write_text("years of work")
    with tf.Session() as session:
        tf.get_variable("w", [], initializer=tf.zeros_initializer())
        session.run(tf.global_variables_initializer())
        with tf.control_dependencies([kind(tmp_path / "thesis.txt")]):
            first = tf.no_op("first")
        builder = tf.saved_model.Builder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(session, ["serve"], main_op=first)
        builder.save()
    refused = pytest.raises(FormatError, match="the saved model names 'first' to be run")
    with tf.Graph().as_default(), tf.Session() as session, refused:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "model"))

    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_meta_graph_whose_saver_writes_another_file_is_refused(tmp_path: Path) -> None:
    """When variables are restored, nothing is written."""
    with tf.Graph().as_default():
        tf.get_variable("w", [])
        message = tf.train.Saver().export_meta_graph()
    for node in message.graph_def.node:
        if node.name == message.saver_def.restore_op_name:
            node.input.append("^save/SaveV2")

    with pytest.raises(FormatError, match=r"the saver names 'save/restore_all'.*writes a file"):
        tf.train.import_meta_graph(message)


@pytest.mark.parametrize("name", ["../../secret", "/etc/passwd", "a\0b", ""])
def test_a_saved_model_names_only_files_of_its_own(tmp_path: Path, name: str) -> None:
    model = tf.core.protobuf.saved_model_pb2.SavedModel
    message = model.FromString((RECORDED / "saved_model" / "saved_model.pb").read_bytes())
    asset = message.meta_graphs[0].asset_file_def.add(filename=name)
    asset.tensor_info.name = "x:0"
    os.symlink(RECORDED / "saved_model" / "variables", tmp_path / "variables")
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())

    with tf.Session() as session, pytest.raises(FormatError, match="is not in its folder 'assets'"):
        tf.saved_model.load(session, ["serve"], str(tmp_path))

"""Saved models and graphs with their collections, as TensorFlow wrote them; signatures."""

import shutil
from pathlib import Path

import pytest

import byparts_frontend_tf as tf
from byparts_tf_files.checkpoint import read_checkpoint
from byparts_tf_files.errors import DataLossError
from byparts_tf_files.messages.meta_graph import MetaGraphDef, VariableDef
from byparts_tf_files.saved_model import (
    contains_saved_model,
    meta_graph_of,
    read_saved_model,
    variables_path,
    write_saved_model,
)

RECORDED = Path(__file__).parents[2] / "tf-files/tests/recorded"
FOLDER = RECORDED / "saved_model"


def test_a_model_of_tensorflow() -> None:
    """Its signature, its graph, its collections and its variables."""
    found = meta_graph_of(read_saved_model(FOLDER), [tf.saved_model.tag_constants.SERVING])
    signature = found.signature_def["serving_default"]

    assert signature.inputs["x"].name == "x:0" and signature.outputs["y"].name == "y:0"
    assert signature.method_name == tf.saved_model.signature_constants.PREDICT_METHOD_NAME
    assert [d.size for d in signature.inputs["x"].tensor_shape.dim] == [-1, 3]
    assert "y" in [node.name for node in found.graph_def.node]
    (variable,) = found.collection_def["trainable_variables"].bytes_list.value
    assert VariableDef.FromString(variable).variable_name == "w:0"
    assert read_checkpoint(variables_path(FOLDER))["w"].tolist() == [1, 2, 3]
    with pytest.raises(
        RuntimeError, match=r"tags \['eval'\] could not be found .* \[\['serve'\]\]"
    ):
        meta_graph_of(read_saved_model(FOLDER), ["eval"])


def test_a_graph_with_its_collections() -> None:
    """All that is in it is kept, known or not, when it is written again."""
    data = (RECORDED / "graph.meta").read_bytes()
    found = MetaGraphDef.FromString(data)

    assert found.graph_def.node[0].name == "x" and found.meta_info_def.tensorflow_version
    assert "variables" in found.collection_def
    assert MetaGraphDef.FromString(found.SerializeToString()) == found
    assert len(found.SerializeToString()) == len(data)


@pytest.mark.parametrize("as_text", [False, True])
def test_a_model_is_read_as_it_was_written(tmp_path: Path, as_text: bool) -> None:
    model = read_saved_model(FOLDER)
    write_saved_model(tmp_path / "new", model, as_text)

    assert contains_saved_model(tmp_path / "new") and not contains_saved_model(tmp_path)
    found = read_saved_model(str(tmp_path / "new"))
    if not as_text:
        assert found == model
    assert [g.signature_def for g in found.meta_graphs] == [
        g.signature_def for g in model.meta_graphs
    ]


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        read_saved_model(tmp_path)
    shutil.copy(FOLDER / "saved_model.pb", tmp_path)
    (tmp_path / "saved_model.pb").write_bytes((tmp_path / "saved_model.pb").read_bytes()[:-1])
    with pytest.raises(DataLossError, match=r"saved_model.pb: byte \d+: "):
        read_saved_model(tmp_path)


def test_signatures() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.multiply(x, 2.0, name="y")
    built = tf.saved_model.signature_def_utils.build_signature_def(
        inputs={"x": tf.saved_model.utils.build_tensor_info(x)},
        outputs={"y": tf.saved_model.utils.build_tensor_info(y)},
        method_name=tf.saved_model.signature_constants.PREDICT_METHOD_NAME,
    )

    assert built == tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {"y": y})
    assert built.inputs["x"].dtype == 1 and built.outputs["y"].name == "y:0"
    regression = tf.saved_model.signature_def_utils.regression_signature_def(x, y)
    assert regression.method_name == "tensorflow/serving/regress" and "inputs" in regression.inputs
    classes = tf.saved_model.signature_def_utils.classification_signature_def(x, None, y)
    assert list(classes.outputs) == ["scores"]
    with pytest.raises(ValueError, match="predict outputs cannot be None or empty"):
        tf.saved_model.signature_def_utils.predict_signature_def({"x": x}, {})

"""Operators of ai.onnx.ml that ONNX Runtime's recording does not have."""

from __future__ import annotations

import numpy as np
from models import model, node, results, run
from onnx import numpy_helper

from byparts_frontend_onnx import from_onnx

ML = {"ai.onnx.ml": 3}


def test_nan_is_imputed() -> None:
    fill = node("Imputer", ["x"], ["y"], domain="ai.onnx.ml", imputed_value_floats=[1.0, 2.0],
                replaced_value_float=float("nan"))  # fmt: skip
    x = np.array([[np.nan, 5], [6, np.nan]], np.float32)
    (y,) = run(model([fill], {"x": ["n", 2]}, ["y"], domains=ML), x=x)
    assert y.tolist() == [[1, 5], [6, 2]]


def test_maps_of_probabilities_are_an_array_and_a_note_says_so() -> None:
    zipped = node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_int64s=[0, 1])
    imported = from_onnx(model([zipped], {"x": ["n", 2]}, ["y"], domains=ML))

    assert imported.notes == ("ZipMap: an array of probabilities is given, and no maps",)
    assert results(imported, x=np.ones((3, 2), np.float32))[0].shape == (3, 2)


def test_columns_are_put_beside_each_other() -> None:
    beside = node("FeatureVectorizer", ["a", "b"], ["y"], domain="ai.onnx.ml")
    source = model([beside], {"a": ["n", 2], "b": (7, ["n", 1])}, ["y"], domains=ML)
    (y,) = run(source, a=np.ones((2, 2), np.float32), b=np.array([[3], [4]]))
    assert y.tolist() == [[1, 1, 3], [1, 1, 4]]


def test_a_tree_looks_for_members_of_sets() -> None:
    """Two nodes with a set each, which the file separates by nan; 0 may be a member."""
    tree = node(
        "TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, aggregate_function=1,
        nodes_featureids=[0, 0], nodes_truenodeids=[0, 1], nodes_trueleafs=[1, 1],
        nodes_falsenodeids=[1, 2], nodes_falseleafs=[0, 1], tree_roots=[0],
        nodes_modes=numpy_helper.from_array(np.array([6, 6], np.uint8)),
        nodes_splits=numpy_helper.from_array(np.zeros(2, np.float32)),
        membership_values=numpy_helper.from_array(
            np.array([0, 2, 5, np.nan, 7, np.nan], np.float32)),
        leaf_targetids=[0, 0, 0],
        leaf_weights=numpy_helper.from_array(np.array([1, 10, 100], np.float32)),
    )  # fmt: skip
    source = model([tree], {"x": ["n", 1]}, ["y"], domains={"ai.onnx.ml": 5})
    (y,) = run(source, x=np.array([[0], [5], [7], [1]], np.float32))
    assert y.reshape(-1).tolist() == [1, 1, 10, 100]

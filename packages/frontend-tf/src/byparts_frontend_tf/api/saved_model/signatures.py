"""`tf.saved_model`: names, and signatures: which tensors a saved model takes and gives."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.messages.meta_graph import SignatureDef, TensorInfo

tags = SimpleNamespace(SERVING="serve", TRAINING="train", EVAL="eval", GPU="gpu", TPU="tpu")
signatures = SimpleNamespace(
    DEFAULT_SERVING_SIGNATURE_DEF_KEY="serving_default",
    CLASSIFY_INPUTS="inputs",
    CLASSIFY_METHOD_NAME="tensorflow/serving/classify",
    CLASSIFY_OUTPUT_CLASSES="classes",
    CLASSIFY_OUTPUT_SCORES="scores",
    PREDICT_INPUTS="inputs",
    PREDICT_METHOD_NAME="tensorflow/serving/predict",
    PREDICT_OUTPUTS="outputs",
    REGRESS_INPUTS="inputs",
    REGRESS_METHOD_NAME="tensorflow/serving/regress",
    REGRESS_OUTPUTS="outputs",
)
constants = SimpleNamespace(
    ASSETS_DIRECTORY="assets",
    ASSETS_KEY="saved_model_assets",
    LEGACY_INIT_OP_KEY="legacy_init_op",
    MAIN_OP_KEY="saved_model_main_op",
    SAVED_MODEL_FILENAME_PB="saved_model.pb",
    SAVED_MODEL_FILENAME_PBTXT="saved_model.pbtxt",
    SAVED_MODEL_SCHEMA_VERSION=1,
    VARIABLES_DIRECTORY="variables",
    VARIABLES_FILENAME="variables",
)


@symbol(
    *("saved_model.utils.build_tensor_info", "saved_model.build_tensor_info"),
    "python.saved_model.utils.build_tensor_info",
)
def build_tensor_info(tensor: Any) -> TensorInfo:
    """The name, dtype and shape of a tensor, as a signature has them.

    A `SparseTensor` has the names of its three tensors.
    """
    made = TensorInfo(dtype=tensor.dtype.base_dtype.as_datatype_enum)
    made.tensor_shape.CopyFrom(tensor.get_shape().as_proto())
    if hasattr(tensor, "dense_shape"):
        made.coo_sparse.values_tensor_name = tensor.values.name
        made.coo_sparse.indices_tensor_name = tensor.indices.name
        made.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        made.name = tensor.name
    return made


@symbol(
    *("saved_model.signature_def_utils.build_signature_def", "saved_model.build_signature_def"),
    "python.saved_model.signature_def_utils.build_signature_def",
)
def build_signature_def(
    inputs: Mapping[str, TensorInfo] | None = None,
    outputs: Mapping[str, TensorInfo] | None = None,
    method_name: str | None = None,
) -> SignatureDef:
    """A signature of these tensors."""
    return SignatureDef(inputs=inputs, outputs=outputs, method_name=method_name)


@symbol(
    *("saved_model.signature_def_utils.predict_signature_def", "saved_model.predict_signature_def")
)
def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    """The signature of a prediction.

    Args:
        inputs: tensors by the names of the arguments.
        outputs: tensors by the names of the results.

    Raises:
        ValueError: there are none of one kind.
    """
    return _signature("PREDICT", inputs, outputs)


@symbol(
    "saved_model.signature_def_utils.regression_signature_def",
    "saved_model.regression_signature_def",
)
def regression_signature_def(examples: Any, predictions: Any) -> SignatureDef:
    """The signature of a regression: examples in, numbers out."""
    return _signature("REGRESS", {"inputs": examples}, {"outputs": predictions})


@symbol(
    "saved_model.signature_def_utils.classification_signature_def",
    "saved_model.classification_signature_def",
)
def classification_signature_def(examples: Any, classes: Any, scores: Any) -> SignatureDef:
    """The signature of a classification: examples in, classes and scores out."""
    given = {"classes": classes, "scores": scores}
    outputs = {name: tensor for name, tensor in given.items() if tensor is not None}
    return _signature("CLASSIFY", {"inputs": examples}, outputs)


def _signature(kind: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> SignatureDef:
    if not inputs or not outputs:
        missing = "inputs" if not inputs else "outputs"
        raise ValueError(f"{kind.lower()} {missing} cannot be None or empty")
    return build_signature_def(
        {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
        {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
        getattr(signatures, f"{kind}_METHOD_NAME"),
    )


SYMBOLS = {
    **{
        f"saved_model.{part}{n}": f"tags.{n}" for part in ("tag_constants.", "") for n in vars(tags)
    },
    **{
        f"saved_model.signature_constants.{name}": f"signatures.{name}" for name in vars(signatures)
    },
    **{f"saved_model.{name}": f"signatures.{name}" for name in vars(signatures)},
    **{f"saved_model.constants.{name}": f"constants.{name}" for name in vars(constants)},
    **{f"python.saved_model.constants.{name}": f"constants.{name}" for name in vars(constants)},
}

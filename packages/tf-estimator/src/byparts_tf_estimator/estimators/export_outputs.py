"""`tf.estimator.export`: what a saved model gives, and what a server feeds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api.placeholder import placeholder
from byparts_frontend_tf.api.saved_model.signatures import (
    build_signature_def,
    build_tensor_info,
    signatures,
)
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_files.dtypes import string

DEFAULT_KEY = signatures.DEFAULT_SERVING_SIGNATURE_DEF_KEY


@symbol("estimator.export.ExportOutput")
class ExportOutput:
    """A head of a saved model: tensors by name, and what a server calls it for."""

    method_name = signatures.PREDICT_METHOD_NAME

    def outputs(self) -> dict[str, Tensor]:
        """Name in the signature -> tensor."""
        raise NotImplementedError

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """The signature from what a server feeds to these outputs.

        Raises:
            ValueError: it is to classify or to regress, and is not fed one tensor of strings.
        """
        inputs = receiver_tensors
        if self.method_name != signatures.PREDICT_METHOD_NAME:
            fed = list(receiver_tensors.values())
            if len(fed) != 1 or fed[0].dtype is not string:
                raise ValueError(
                    f"{self.method_name} input must be a single string Tensor; got "
                    f"{receiver_tensors}"
                )
            inputs = {signatures.CLASSIFY_INPUTS: fed[0]}
        return build_signature_def(
            {name: build_tensor_info(t) for name, t in inputs.items()},
            {name: build_tensor_info(t) for name, t in self.outputs().items()},
            self.method_name,
        )


@symbol("estimator.export.PredictOutput")
class PredictOutput(ExportOutput):
    """Any tensors.

    Args:
        outputs: a tensor, or name -> tensor.
    """

    def __init__(self, outputs: Any) -> None:
        named = outputs if isinstance(outputs, Mapping) else {"output": outputs}
        self._outputs = {str(name): convert_to_tensor(t) for name, t in named.items()}

    def outputs(self) -> dict[str, Tensor]:
        """Name -> tensor."""
        return self._outputs


@symbol("estimator.export.RegressionOutput")
class RegressionOutput(ExportOutput):
    """The output of a regression: a number of floating point for each example.

    Raises:
        ValueError: `value` is not of floating point.
    """

    method_name = signatures.REGRESS_METHOD_NAME

    def __init__(self, value: Any) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self.value = value

    def outputs(self) -> dict[str, Tensor]:
        """The numbers as "outputs"."""
        return {signatures.REGRESS_OUTPUTS: self.value}


@symbol("estimator.export.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """Scores of floating point, or classes as texts, or both.

    Raises:
        ValueError: there is neither, or one is of another dtype.
    """

    method_name = signatures.CLASSIFY_METHOD_NAME

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, Tensor) and classes.dtype is string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self.scores, self.classes = scores, classes

    def outputs(self) -> dict[str, Tensor]:
        """Scores and classes."""
        given = {
            signatures.CLASSIFY_OUTPUT_SCORES: self.scores,
            signatures.CLASSIFY_OUTPUT_CLASSES: self.classes,
        }
        return {name: t for name, t in given.items() if t is not None}


def checked_outputs(given: Any, predictions: Any, predicting: bool) -> Any:
    """The outputs of a model by key, with a default one; `None` where none are needed.

    Raises:
        TypeError: it is no dict of `ExportOutput`s.
        ValueError: there are several, and none is the default.
    """
    if given is None and predicting:
        given = {DEFAULT_KEY: PredictOutput(predictions)} if _exportable(predictions) else None
    if given is None:
        return None
    if not isinstance(given, dict):
        raise TypeError(f"export_outputs must be dict, given: {given}")
    for output in given.values():
        if not isinstance(output, ExportOutput):
            raise TypeError(
                f"Values in export_outputs must be ExportOutput objects. Given: {given}"
            )
    if len(given) == 1 and DEFAULT_KEY not in given:
        return {**given, DEFAULT_KEY: next(iter(given.values()))}
    if len(given) > 1 and DEFAULT_KEY not in given:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default. "
            f"Do this by naming one of them with signature_constants.{DEFAULT_KEY}."
        )
    return given


def _exportable(predictions: Any) -> bool:
    tensors = predictions.values() if isinstance(predictions, Mapping) else [predictions]
    return all(not hasattr(t, "dense_shape") for t in tensors)


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any


@symbol("estimator.export.ServingInputReceiver")
class ServingInputReceiver(_Receiver):
    """Features of a model, and the tensors that a server feeds.

    Raises:
        ValueError: something is no tensor.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        """Checked; one tensor alone is named "feature", and "input"."""
        if features is None:
            raise ValueError("features must be defined.")
        if receiver_tensors is None:
            raise ValueError("receiver_tensors must be defined.")
        named = features if isinstance(features, dict) else {"feature": features}
        fed = receiver_tensors if isinstance(receiver_tensors, dict) else None
        fed = {"input": receiver_tensors} if fed is None else fed
        for t in [*named.values(), *fed.values()]:
            if not isinstance(t, Tensor) and not hasattr(t, "dense_shape"):
                raise ValueError(f"feature or receiver_tensor must be a Tensor: {t}")
        return super().__new__(cls, named, fed, receiver_tensors_alternatives)


@symbol("estimator.export.TensorServingInputReceiver")
class TensorServingInputReceiver(_Receiver):
    """A `ServingInputReceiver` of a model whose features are one tensor."""

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        """Checked."""
        if not isinstance(features, Tensor):
            raise ValueError(f"features must be a Tensor: {features}")
        checked = ServingInputReceiver(features, receiver_tensors)
        return super().__new__(
            cls, features, checked.receiver_tensors, receiver_tensors_alternatives
        )


@symbol("estimator.export.build_raw_serving_input_receiver_fn")
def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: Optional[int] = None
) -> Callable[[], ServingInputReceiver]:
    """A function that makes a placeholder for each feature.

    Args:
        features: name -> tensor of the shape and dtype that is fed.
        default_batch_size: the first dimension; by default any.
    """
    wanted = {name: (t.dtype, t.get_shape()) for name, t in features.items()}

    def receive() -> ServingInputReceiver:
        fed = {}
        for name, (dtype, shape) in wanted.items():
            dims = shape.as_list() if shape.ndims is not None else None
            if dims:
                dims[0] = default_batch_size
            fed[name] = placeholder(dtype.base_dtype, dims, name=name)
        return ServingInputReceiver(fed, fed)

    return receive


@symbol("estimator.export.build_parsing_serving_input_receiver_fn")
def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: Optional[int] = None
) -> Callable[[], ServingInputReceiver]:
    """A function that makes a placeholder of serialized `Example`s, and parses them."""

    def receive() -> ServingInputReceiver:
        examples = placeholder(string, [default_batch_size], name="input_example_tensor")
        features = named("parse_example")(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return receive

"""Results of `model.compile`: targets, losses, metrics, and the functions that run them."""

from __future__ import annotations

from typing import Any, Optional

import byparts_frontend_tf as tf
from byparts_tf_keras import loss_functions, losses, metrics
from byparts_tf_keras.layer_parts import once
from byparts_tf_keras.losses import Loss, LossFunctionWrapper, reduced, weighed
from byparts_tf_keras.metric import Mean, MeanMetricWrapper, Metric
from byparts_tf_keras.state import floatx, phase_feed
from byparts_tf_keras.values import Function


class Output:
    """An output of a model, and what is compared with it.

    Attributes:
        target: a placeholder, or the tensor that was given; `None` without a loss.
        weights: a placeholder of weights of examples, once they are given.
        metrics: of the output; `weighted` of them see the weights.
    """

    def __init__(self, name: str, tensor: Any, loss: Any, share: Any, target: Any) -> None:
        self.name, self.tensor, self.share = name, tensor, share
        self.loss = _loss_object(loss)
        self.fed = target is None and self.loss is not None
        self.target = target if target is not None or self.loss is None else self._placeholder()
        self.weights: Any = None
        self.metrics: list[Metric] = []
        self.weighted: list[Metric] = []
        self.loss_metric: Optional[Mean] = None

    def _placeholder(self) -> Any:
        rank = self.tensor.get_shape().ndims
        shape = None if rank is None else [None] * rank
        dtype = self.tensor.dtype.base_dtype
        with tf.name_scope(None):
            return tf.placeholder(dtype, shape, name=f"{self.name}_target")

    @property
    def sparse(self) -> bool:
        """Whether targets are classes."""
        return self._is(loss_functions.sparse_categorical_crossentropy)

    def _is(self, function: Any) -> bool:
        return isinstance(self.loss, LossFunctionWrapper) and self.loss.fn is function

    def accuracy(self) -> Any:
        """The metric that "accuracy" means for this output."""
        dims = self.tensor.get_shape().as_list()
        if dims[-1] == 1 or self._is(loss_functions.binary_crossentropy):
            return metrics.binary_accuracy
        return metrics.sparse_categorical_accuracy if self.sparse else metrics.categorical_accuracy

    def crossentropy(self) -> Any:
        """The loss that "crossentropy" means for this output."""
        dims = self.tensor.get_shape().as_list()
        if dims[-1] == 1 or self._is(loss_functions.binary_crossentropy):
            return loss_functions.binary_crossentropy
        if self.sparse:
            return loss_functions.sparse_categorical_crossentropy
        return loss_functions.categorical_crossentropy

    def value(self, weights: Any) -> Any:
        """The loss, with these weights of examples."""
        mask = getattr(self.tensor, "_keras_mask", None)
        if mask is not None:
            mask = tf.cast(mask, self.tensor.dtype)
            weights = mask if weights is None else weighed(mask, weights)
        if not hasattr(self.loss, "reduction"):
            return self.loss(self.target, self.tensor, sample_weight=weights)
        values = self.loss.call(self.target, self.tensor)
        return reduced(values, weights, self.loss.reduction)


def _loss_object(loss: Any) -> Any:
    if loss is None or isinstance(loss, Loss):
        return loss
    function = losses.get(loss)
    if isinstance(function, Loss):
        return function
    return LossFunctionWrapper(
        function, name=getattr(function, "__name__", type(function).__name__)
    )


class Compiled:
    """A model with an optimizer, losses and metrics.

    Args:
        model: has outputs.
        given: the arguments of `compile`.

    Raises:
        ValueError: losses or metrics are of no output.
    """

    def __init__(self, model: Any, given: dict[str, Any]) -> None:
        self.model, self.given = model, given
        names = model.output_names
        chosen = _for_outputs(given["loss"], names, "loss")
        shares = _for_outputs(given["loss_weights"], names, "loss_weights", 1.0)
        targets = _for_outputs(given["target_tensors"], names, "target_tensors")
        rows = zip(names, model.outputs, chosen, shares, targets, strict=True)
        self.outputs = [Output(n, t, la, s, y) for n, t, la, s, y in rows]
        self.trained = [o for o in self.outputs if o.loss is not None]
        self.fed_inputs = [t for t in model.inputs if t.op.type.startswith("Placeholder")]
        self._functions: dict[Any, Function] = {}
        self._losses: dict[bool, tuple[Any, list[Any]]] = {}
        self._add_metrics(given["metrics"], given["weighted_metrics"])

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that begin anew with each epoch."""
        own = [o.loss_metric for o in self.trained if o.loss_metric is not None]
        layered = [kept for _, _, kept in _of_layers(self.model) if kept is not None]
        return [*own, *[m for o in self.outputs for m in (*o.metrics, *o.weighted)], *layered]

    @property
    def metric_names(self) -> list[str]:
        """The names of what training reports."""
        own = [o.loss_metric.name for o in self.trained if o.loss_metric is not None]
        listed = [m.name for o in self.outputs for m in (*o.metrics, *o.weighted)]
        return ["loss", *own, *listed, *[name for name, _, _ in _of_layers(self.model)]]

    def _add_metrics(self, given: Any, given_weighted: Any) -> None:
        names = [o.name for o in self.outputs]
        several = len(self.outputs) > 1
        with tf.name_scope("metrics"):
            if several:
                for o in self.trained:
                    o.loss_metric = Mean(f"{o.name}_loss")
            taken: set[str] = set()
            for weighted, chosen in ((False, given), (True, given_weighted)):
                per_output = zip(self.outputs, _metrics_of(chosen, names), strict=True)
                for o, listed in per_output:
                    for metric in listed if o.loss is not None else ():
                        made = self._metric(metric, o, weighted, several, taken)
                        (o.weighted if weighted else o.metrics).append(made)

    def _metric(
        self, metric: Any, output: Output, weighted: bool, several: bool, taken: set[str]
    ) -> Metric:
        function: Any = metric
        name: Any = ""
        if metric in ("accuracy", "acc"):
            function, name = output.accuracy(), "acc"
        elif metric in ("crossentropy", "ce"):
            function, name = output.crossentropy(), "ce"
        else:
            function = metrics.get(metric)
            name = getattr(function, "name", None) or getattr(function, "__name__", str(metric))
        name = str(name)
        name = f"weighted_{name}" if weighted and metric in ("accuracy", "acc") else name
        name = f"{output.name}_{name}" if several else name
        unique, number = name, 0
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        if isinstance(function, Metric):
            function.name = unique
            return function
        if isinstance(function, Loss):
            function = function.call
        with tf.name_scope(unique.strip("<>")):
            return MeanMetricWrapper(function, name=unique)

    # Functions

    def _weights(self) -> list[Any]:
        for o in self.trained:
            if o.weights is None:
                with tf.name_scope(None):
                    o.weights = tf.placeholder(floatx(), None, name=f"{o.name}_sample_weights")
        return [o.weights for o in self.trained]

    def _loss(self, weighted: bool) -> tuple[Any, list[Any]]:
        """(the loss, what is reported beside it)."""
        if weighted in self._losses:
            return self._losses[weighted]
        if weighted:
            self._weights()
        total, reported = [], []
        with tf.name_scope("loss"):
            for o in self.trained:
                with tf.name_scope(f"{o.name}_loss"):
                    value = o.value(o.weights if weighted else None)
                if o.loss_metric is not None:
                    reported.append(o.loss_metric(value))
                total.append(value if o.share == 1.0 else o.share * value)
            model = self.model
            total += once([*model.get_losses_for(None), *model.get_losses_for(model.inputs)])
            if not total:
                raise ValueError("The model cannot be compiled because it has no loss to optimize.")
            loss = tf.add_n([tf.cast(t, total[0].dtype) for t in total]) if total[1:] else total[0]
            loss = tf.reduce_mean(loss) if loss.get_shape().ndims else loss
        with tf.name_scope("metrics"):
            for o in self.outputs:
                mask = getattr(o.tensor, "_keras_mask", None)
                weights = o.weights if weighted else None
                reported += [_called(m, o, mask, None) for m in o.metrics]
                reported += [_called(m, o, mask, weights) for m in o.weighted]
        reported += [value for _, value, _ in _of_layers(model)]
        self._losses[weighted] = loss, reported
        return self._losses[weighted]

    def function(self, mode: str, weighted: bool = False) -> Function:
        """A function of inputs (and targets, and weights): "train", "test" or "predict"."""
        trainable = model_trains(self.model) if mode == "train" else None
        key = mode, weighted, trainable
        if key not in self._functions:
            self._functions[key] = self._made(mode, weighted)
        return self._functions[key]

    def _made(self, mode: str, weighted: bool) -> Function:
        model = self.model
        fed = [o.target for o in self.trained if o.fed]
        if mode == "predict":
            return Function(self.fed_inputs, model.outputs, model.state_updates, phase_feed(0))
        loss, reported = self._loss(weighted)
        shares = self._weights() if weighted else []
        updates: list[Any] = list(model.state_updates) if mode == "test" else []
        if mode == "train":
            with tf.name_scope("training"):
                weights = model._collected_trainable_weights
                updates += model.optimizer.get_updates(loss, weights) if weights else []
            updates += once([*model.get_updates_for(None), *model.get_updates_for(model.inputs)])
        phase = phase_feed(1 if mode == "train" else 0)
        return Function([*self.fed_inputs, *fed, *shares], [loss, *reported], updates, phase)


def model_trains(model: Any) -> Any:
    """A key of all that a training function depends on: the trained weights."""
    return tuple(id(w) for w in model._collected_trainable_weights)


def _called(metric: Metric, output: Output, mask: Any, weights: Any) -> Any:
    shares = weights
    if mask is not None:
        mask = tf.cast(mask, output.tensor.dtype)
        shares = mask if weights is None else weighed(mask, weights)
    if shares is None:
        return metric(output.target, output.tensor)
    return metric(output.target, output.tensor, sample_weight=shares)


def _of_layers(model: Any) -> list[Any]:
    """(name, value, metric) of what layers added by `add_metric`."""
    layers = once([model, *model.submodules])
    return [entry for layer in layers for entry in layer._own_metrics]


def _for_outputs(values: Any, names: list[str], what: str, usual: Any = None) -> list[Any]:
    """Sort what was given, by name or in order, to the outputs.

    Raises:
        ValueError: there are not so many, or a name is of no output.
    """
    if values is None:
        return [usual] * len(names)
    if isinstance(values, dict):
        for name in values:
            if name not in names:
                raise ValueError(
                    f'Unknown entry in {what} dictionary: "{name}". Only expected the following '
                    f"keys: {names}"
                )
        return [values.get(name, usual) for name in names]
    if isinstance(values, (list, tuple)):
        if len(values) != len(names):
            raise ValueError(
                f"When passing a list as {what}, it should have one entry per model output. The "
                f"model has {len(names)} outputs, but you passed {what}={values}"
            )
        return list(values)
    return [values] * len(names)


def _metrics_of(metrics: Any, names: list[str]) -> list[list[Any]]:
    if metrics is None:
        return [[] for _ in names]
    if isinstance(metrics, dict):
        return [_listed(metrics.get(name, [])) for name in names]
    metrics = _listed(metrics)
    if any(isinstance(m, (list, tuple)) for m in metrics):
        return [_listed(m) for m in metrics]
    return [list(metrics) for _ in names]


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]

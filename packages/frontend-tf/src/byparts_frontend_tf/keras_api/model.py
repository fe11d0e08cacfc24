"""`tf.keras.Model`: a network that is compiled and trained."""

from __future__ import annotations

from itertools import chain
from typing import Any, Optional

import numpy as np

import byparts_frontend_tf as tf
from byparts_frontend_tf.graph.nest import flatten, map_structure
from byparts_frontend_tf.keras_api import optimizers
from byparts_frontend_tf.keras_api.callbacks import History
from byparts_frontend_tf.keras_api.compiled import Compiled
from byparts_frontend_tf.keras_api.connections import connect
from byparts_frontend_tf.keras_api.data import (
    Batches,
    Sequence,
    check_lengths,
    class_weights,
    is_dataset,
    is_stream,
    parts_of,
    standardized,
)
from byparts_frontend_tf.keras_api.inputs import input_of
from byparts_frontend_tf.keras_api.layer import call_arguments
from byparts_frontend_tf.keras_api.loops import Arrays, Source, Stream, predict, test, train
from byparts_frontend_tf.keras_api.network import Network
from byparts_frontend_tf.keras_api.state import floatx, learning_phase
from byparts_frontend_tf.symbols import symbol


@symbol("keras.Model", "keras.models.Model", "python.keras.models.Model")
@symbol("python.keras.engine.training.Model")
class Model(Network):
    """Layers between inputs and outputs; or a class of the program that calls layers.

    Attributes:
        optimizer: as it was compiled.
        history: of the last training.
        stop_training: whether training is to stop.
    """

    def __init__(self, *arguments: Any, **given: Any) -> None:
        self.optimizer: Any = None
        self.loss: Any = None
        self.history: Any = None
        self.stop_training = False
        self._compile_arguments: Optional[dict[str, Any]] = None
        self._made: Optional[Compiled] = None
        super().__init__(*arguments, **given)

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        sample_weight_mode: Any = None,
        weighted_metrics: Any = None,
        target_tensors: Any = None,
        distribute: Any = None,
        **given: Any,
    ) -> None:
        """Say how it is trained.

        Args:
            optimizer: a name, one of Keras's, or one of `tf.train`.
            loss: for each output: a name, a function, or a `Loss`.
            metrics: of outputs; `weighted_metrics` see the weights of examples.
            loss_weights: of outputs.
            sample_weight_mode: accepted: weights of any shape that fits are taken.
            weighted_metrics: see `metrics`.
            target_tensors: in the place of placeholders.
            distribute: refused.
            given: run_eagerly, options of sessions: accepted.

        Raises:
            ValueError: names that mean nothing; losses or metrics of no output.
        """
        if distribute is not None:
            raise NotImplementedError("distribute: there is one device here")
        self.optimizer, self.loss = optimizers.get(optimizer), loss
        self._compile_arguments = {
            "loss": loss,
            "metrics": metrics,
            "loss_weights": loss_weights,
            "weighted_metrics": weighted_metrics,
            "target_tensors": target_tensors,
        }
        self._made = None
        if self.outputs and self._graph is not None:
            self._compiled()

    def _check_compiled(self) -> dict[str, Any]:
        if self._compile_arguments is None:
            raise RuntimeError(
                "You must compile your model before training/testing. Use "
                "`model.compile(optimizer, loss)`."
            )
        return self._compile_arguments

    def _compiled(self) -> Compiled:
        if self._made is None:
            given = self._check_compiled()
            self._collected_trainable_weights = self.trainable_weights
            self._made = Compiled(self, given)
        return self._made

    def _runner(self) -> Compiled:
        """What predicts: also without `compile`."""
        if self._made is not None:
            return self._made
        if self._compile_arguments is not None:
            return self._compiled()
        if getattr(self, "_predictor", None) is None:
            nothing = dict.fromkeys(
                ("loss", "metrics", "loss_weights", "weighted_metrics", "target_tensors")
            )
            self._collected_trainable_weights = self.trainable_weights
            self._predictor = Compiled(self, nothing)
        return self._predictor

    @property
    def metrics(self) -> list[Any]:
        """Its metrics."""
        return self._made.metrics if self._made else []

    @property
    def metrics_names(self) -> list[str]:
        """The names of what training reports."""
        return self._made.metric_names if self._made else ["loss"]

    @property
    def total_loss(self) -> Any:
        """The loss that is minimized."""
        return self._compiled()._loss(False)[0]

    @property
    def targets(self) -> list[Any]:
        """The placeholders of targets."""
        return [o.target for o in self._compiled().trained]

    def reset_metrics(self) -> None:
        """Begin its metrics anew."""
        for metric in self.metrics:
            metric.reset_states()

    def _make_train_function(self) -> None:
        self._compiled().function("train")

    def _make_predict_function(self) -> None:
        self._runner().function("predict")

    _make_test_function = make_predict_function = _make_predict_function
    make_train_function = _make_train_function

    # Data

    def _set_inputs(self, x: Any) -> None:
        """Make placeholders in the shapes of the first data, and call the model on them."""
        if self.inputs and self.outputs:
            return
        given = x if isinstance(x, dict) else map_structure(_array, x)
        if isinstance(x, (list, tuple)) and not hasattr(_array(flatten(x)[0]), "ndim"):
            given = np.asarray(x)
        if isinstance(given, (list, tuple)) and all(np.ndim(a) == 0 for a in given):
            given = np.asarray(given)

        def placeholder(array: Any) -> Any:
            array = np.expand_dims(array, 1) if array.ndim == 1 else array
            dtype = floatx() if array.dtype.kind == "f" else str(array.dtype)
            return input_of(shape=array.shape[1:], dtype=dtype)

        if isinstance(given, dict):
            inputs: Any = {k: placeholder(_array(v)) for k, v in given.items()}
        else:
            inputs = map_structure(placeholder, given)
        made = flatten(inputs)
        self.built = True
        if type(self).__name__ == "Sequential":
            outputs = self.call(inputs)
        else:
            told = "training" in call_arguments(type(self))
            outputs = self(inputs, **({"training": learning_phase()} if told else {}))
        self.inputs, self.outputs = made, flatten(outputs)
        self.input_names = [t._keras_history.layer.name for t in made]
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]
        if not self._inbound_nodes:
            connect(self, inputs, outputs)

    def _first_seen(self, x: Any) -> Any:
        """The data; a model without inputs is built by the first of them."""
        if self.inputs is not None:
            return x
        if isinstance(x, Sequence):
            self._set_inputs(parts_of(x[0])[0])
        elif hasattr(x, "__next__"):
            first = next(x)
            self._set_inputs(parts_of(first)[0])
            return chain([first], x)
        elif is_dataset(x):
            self._set_inputs(parts_of(next(Batches(x, None, False).epoch()))[0])
        else:
            self._set_inputs(x)
        return x

    def _arrays(self, x: Any, y: Any = None, weights: Any = None, classes: Any = None) -> Any:
        """(arrays in the order of the placeholders, whether there are weights)."""
        self._set_inputs(x)
        made = self._runner()
        names = [
            n
            for n, t in zip(self.input_names, self.inputs, strict=True)
            if any(t is f for f in made.fed_inputs)
        ]
        inputs = standardized(x, names, made.fed_inputs, "input") if names else []
        if y is None:
            check_lengths(inputs, [], [])
            return inputs, False
        outputs = [o for o in made.trained if o.fed]
        tensors = [_Expected(o) for o in outputs]
        targets = standardized(y, [o.name for o in outputs], tensors, "target")
        _check_sparse(outputs, targets)
        rows = _weights_of(weights, classes, made.trained, targets)
        check_lengths(inputs, targets, rows or [])
        return [*inputs, *targets, *(rows or [])], rows is not None

    def _source(
        self, x: Any, y: Any, weights: Any, classes: Any, size: Any, steps: Any, shuffle: Any
    ) -> tuple[Source, bool]:
        """(batches, whether there are weights)."""
        if is_stream(x):
            made = Batches(x, steps, bool(shuffle))
            told: dict[str, bool] = {}

            def prepare(batch: Any) -> list[Any]:
                arrays, told["weighted"] = self._arrays(*parts_of(batch), classes)
                return list(arrays)

            return _Told(made, prepare, told), False
        arrays, weighted = self._arrays(x, y, weights, classes)
        return Arrays(arrays, size or 32, shuffle, steps), weighted

    # Training

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: Optional[int] = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: Any = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: Optional[int] = None,
        validation_steps: Optional[int] = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **given: Any,
    ) -> History:
        """Train for epochs; the history of the values.

        Raises:
            RuntimeError: it was not compiled.
            TypeError: an argument is not known.
            ValueError: arrays do not fit the model.
        """
        epochs = given.pop("nb_epoch", epochs)
        if given:
            raise TypeError(f"Unrecognized keyword arguments: {given}")
        self._check_compiled()
        size = None if is_stream(x) else batch_size or (None if steps_per_epoch else 32)
        x = self._first_seen(x)
        source, weighted = self._source(
            x, y, sample_weight, class_weight, size, steps_per_epoch, shuffle
        )
        self._compiled()
        validation = None
        if validation_data is not None:
            validation = self._validation(validation_data, size, validation_steps)
        elif 0.0 < validation_split < 1.0 and isinstance(source, Arrays):
            source, held = source.split(validation_split)
            validation = held, self._run("test", weighted)
        self._say(source, validation, verbose)
        return train(
            self,
            source,
            self._run("train", weighted, source),
            epochs=epochs,
            initial_epoch=initial_epoch,
            callbacks=callbacks,
            verbose=verbose,
            validation=validation,
            validation_freq=validation_freq,
            batch_size=size,
        )

    def _say(self, source: Source, validation: Any, verbose: int) -> None:
        if verbose and isinstance(source, Arrays):
            what = "steps" if source.by_steps else "samples"
            more = "" if validation is None else f", validate on {validation[0].count} {what}"
            print(f"Train on {source.count} {what}{more}")

    def _validation(self, given: Any, size: Any, steps: Any) -> tuple[Source, Any]:
        if is_stream(given):
            source, weighted = self._source(given, None, None, None, size, steps, False)
        else:
            if len(given) not in (2, 3):
                raise ValueError(
                    "When passing a `validation_data` argument, it must contain either 2 items "
                    f"(x_val, y_val), or 3 items (x_val, y_val, val_sample_weights). Got {given}"
                )
            x, y, weights = (*given, None)[:3]
            source, weighted = self._source(x, y, weights, None, size, steps, False)
        return source, self._run("test", weighted, source)

    def _run(self, mode: str, weighted: bool, source: Any = None) -> Any:
        """Arrays -> outputs, as a list."""
        made = self._runner() if mode == "predict" else self._compiled()

        def run(arrays: Any) -> list[Any]:
            told = source.told.get("weighted", False) if isinstance(source, _Told) else weighted
            return list(made.function(mode, told)(arrays))

        return run

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: Optional[int] = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: Optional[int] = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The loss, and the metrics if there are any."""
        self._check_compiled()
        x = self._first_seen(x)
        source, weighted = self._source(x, y, sample_weight, None, batch_size, steps, False)
        self._compiled()
        run = self._run("test", weighted, source)
        return _one(test(self, source, run, verbose=verbose, callbacks=callbacks))

    def predict(
        self,
        x: Any,
        batch_size: Optional[int] = None,
        verbose: int = 0,
        steps: Optional[int] = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for all examples."""
        if is_stream(x):
            x = self._first_seen(x)
            batches = Batches(x, steps, False)
            source: Source = Stream(batches, lambda b: self._arrays(parts_of(b)[0])[0])
        else:
            source = Arrays(self._arrays(x)[0], batch_size or 32, False, steps)
        run = self._run("predict", False)
        return _one(predict(self, source, run, verbose=verbose, callbacks=callbacks))

    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:
        """Train on one batch: the loss before, and the metrics."""
        return self._on_batch("train", x, y, sample_weight, class_weight, reset_metrics)

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """The loss and the metrics of one batch."""
        return self._on_batch("test", x, y, sample_weight, None, reset_metrics)

    def _on_batch(
        self, mode: str, x: Any, y: Any, weights: Any, classes: Any, reset_metrics: bool
    ) -> Any:
        self._set_inputs(x)
        made = self._compiled()
        arrays, weighted = self._arrays(x, y, weights, classes)
        outputs = list(made.function(mode, weighted)(arrays))
        if reset_metrics:
            self.reset_metrics()
        return _one(outputs)

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch."""
        arrays = self._arrays(x)[0]
        return _one(list(self._runner().function("predict")(arrays)))

    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: Optional[int] = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: Optional[int] = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> History:
        """Train on what a generator gives."""
        return self.fit(
            _stream(generator),
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            shuffle=shuffle,
            class_weight=class_weight,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
        )

    def evaluate_generator(
        self,
        generator: Any,
        steps: Optional[int] = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The loss and the metrics of what a generator gives."""
        return self.evaluate(_stream(generator), verbose=verbose, steps=steps, callbacks=callbacks)

    def predict_generator(
        self,
        generator: Any,
        steps: Optional[int] = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The outputs for what a generator gives."""
        return self.predict(_stream(generator), verbose=verbose, steps=steps, callbacks=callbacks)


class _Told(Stream):
    """Batches of a stream that say whether there are weights."""

    def __init__(self, batches: Batches, prepare: Any, told: dict[str, bool]) -> None:
        super().__init__(batches, prepare)
        self.told = told


class _Expected:
    """The shape that targets are to have: as the output, or classes."""

    def __init__(self, output: Any) -> None:
        self._output = output

    def get_shape(self) -> Any:
        shape = self._output.tensor.get_shape()
        if shape.ndims is None or not hasattr(self._output.loss, "fn"):
            return tf.TensorShape(None)
        dims = shape.as_list()
        if self._output.sparse:
            return tf.TensorShape([*dims[:-1], 1]) if len(dims) == 2 else tf.TensorShape(None)
        known = getattr(self._output.loss.fn, "__module__", "").startswith("byparts_frontend_tf")
        return shape if known else tf.TensorShape([None] * len(dims))


def _check_sparse(outputs: list[Any], targets: list[Any]) -> None:
    """Classes of rank one less than the output have an axis more at the end."""
    for i, (o, t) in enumerate(zip(outputs, targets, strict=True)):
        rank = o.tensor.get_shape().ndims
        if o.sparse and rank is not None and t.ndim == rank - 1:
            targets[i] = np.expand_dims(t, -1)


def _weights_of(
    weights: Any, classes: Any, outputs: list[Any], targets: list[Any]
) -> Optional[list[Any]]:
    """One array of weights for each output, if there are any."""
    if weights is None and not classes:
        return None
    names = [o.name for o in outputs]
    given = _each(weights, names)
    by_class = (
        _each(classes, names) if classes and not _is_plain(classes) else [classes] * len(names)
    )
    made = []
    for w, c, t in zip(given, by_class, targets, strict=True):
        row = np.ones(t.shape[0], np.float32) if w is None else np.asarray(w)
        if c:
            row = row * class_weights(t, c)
        made.append(row)
    return made


def _is_plain(classes: Any) -> bool:
    return isinstance(classes, dict) and not any(isinstance(v, dict) for v in classes.values())


def _each(given: Any, names: list[str]) -> list[Any]:
    if isinstance(given, dict):
        return [given.get(n) for n in names]
    if isinstance(given, (list, tuple)) and len(given) == len(names):
        return list(given)
    return (
        [given] * len(names)
        if given is None or len(names) == 1
        else [given, *[None] * (len(names) - 1)]
    )


def _array(given: Any) -> Any:
    return given if hasattr(given, "shape") and hasattr(given, "ndim") else np.asarray(given)


def _one(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _stream(generator: Any) -> Any:
    return (
        generator if is_stream(generator) or not hasattr(generator, "__iter__") else iter(generator)
    )

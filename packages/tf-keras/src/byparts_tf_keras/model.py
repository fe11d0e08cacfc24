"""`tf.keras.Model`: a network that is compiled and trained."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.callbacks import History
from byparts_tf_keras.compiled_network import CompiledNetwork
from byparts_tf_keras.data import (
    Batches,
    is_stream,
    parts_of,
)
from byparts_tf_keras.fed_network import Told
from byparts_tf_keras.loops import Arrays, Source, Stream, predict, test, train


@symbol("keras.Model", "keras.models.Model", "python.keras.models.Model")
@symbol("python.keras.engine.training.Model")
class Model(CompiledNetwork):
    """Layers between inputs and outputs; or a class of the program that calls layers."""

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
        **kwargs: Any,
    ) -> History:
        """Train for epochs; the history of the values.

        Raises:
            RuntimeError: it was not compiled.
            TypeError: an argument is not known.
            ValueError: arrays do not fit the model.
        """
        epochs = kwargs.pop("nb_epoch", epochs)
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
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

    def _validation(self, data: Any, size: Any, steps: Any) -> tuple[Source, Any]:
        if is_stream(data):
            source, weighted = self._source(data, None, None, None, size, steps, False)
        else:
            if len(data) not in (2, 3):
                raise ValueError(
                    "When passing a `validation_data` argument, it must contain either 2 items "
                    f"(x_val, y_val), or 3 items (x_val, y_val, val_sample_weights). Got {data}"
                )
            x, y, weights = (*data, None)[:3]
            source, weighted = self._source(x, y, weights, None, size, steps, False)
        return source, self._run("test", weighted, source)

    def _run(self, mode: str, weighted: bool, source: Any = None) -> Any:
        """Arrays -> outputs, as a list."""
        runner = self._runner() if mode == "predict" else self._compiled()

        def run(arrays: Any) -> list[Any]:
            told = source.told.get("weighted", False) if isinstance(source, Told) else weighted
            return list(runner.function(mode, told)(arrays))

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
        compiled = self._compiled()
        arrays, weighted = self._arrays(x, y, weights, classes)
        outputs = list(compiled.function(mode, weighted)(arrays))
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


def _one(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _stream(generator: Any) -> Any:
    return (
        generator if is_stream(generator) or not hasattr(generator, "__iter__") else iter(generator)
    )

"""`tf.contrib.learn.Estimator`: fit, evaluate and predict, on arrays or input functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.inputs import numpy_input_fn
from byparts_tf_estimator.estimators.run_config import RunConfig
from byparts_tf_estimator.learn.model_functions import adapted


@symbol("contrib.learn.RunConfig", "contrib.learn.estimators.run_config.RunConfig")
class LearnRunConfig(RunConfig):
    """Options of the runs of an estimator, with the arguments that contrib.learn had.

    Args:
        master: empty: there are no other processes.
        num_cores: accepted.
        log_device_placement: accepted.
        gpu_memory_fraction: accepted.
        evaluation_master: accepted.
        given: as `tf.estimator.RunConfig`.
    """

    def __init__(
        self,
        master: Optional[str] = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        evaluation_master: str = "",
        **given: Any,
    ) -> None:
        if given.get("save_checkpoints_steps") is not None:
            given.setdefault("save_checkpoints_secs", None)
        if "save_checkpoints_steps" in given and given["save_checkpoints_steps"] is None:
            given.pop("save_checkpoints_steps")
        super().__init__(**given)


@symbol("contrib.learn.Estimator")
class LearnEstimator:
    """A model: a function that builds its graph, and a folder with its checkpoints.

    Args:
        model_fn: of features and labels, and of mode, params, config and model_dir if it takes
            them, gives `ModelFnOps`, or predictions, loss and an operation that takes a step.
        model_dir: the folder.
        config: a `RunConfig`.
        params: given to `model_fn`.
        feature_engineering_fn: of features and labels gives others.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Optional[Callable[..., Any]] = None,
    ) -> None:
        self._metrics: Optional[Mapping[Any, Any]] = None
        function = adapted(model_fn, lambda: self._metrics, feature_engineering_fn)
        self._estimator = Estimator(function, model_dir, config, params)

    @property
    def model_dir(self) -> str:
        """The folder of its checkpoints."""
        return self._estimator.model_dir

    @property
    def config(self) -> Any:
        """The `RunConfig` of the estimator."""
        return self._estimator.config

    @property
    def params(self) -> Any:
        """The parameters of the model."""
        return self._estimator.params

    def get_variable_names(self) -> list[str]:
        """The names of all variables."""
        return self._estimator.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable."""
        return self._estimator.get_variable_value(name)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: Optional[int] = None,
        batch_size: Optional[int] = None,
        monitors: Any = None,
        max_steps: Optional[int] = None,
    ) -> Any:
        """Train on arrays or on what `input_fn` gives; itself.

        Args:
            x: an array or name -> array.
            y: labels.
            input_fn: instead of both.
            steps: more; by default without end, or until the input ends.
            batch_size: of arrays; by default all.
            monitors: hooks.
            max_steps: up to which step.
        """
        given = feeding(x, y, input_fn, batch_size, shuffle=True, epochs=None)
        hooks = list(monitors or ())
        for hook in hooks:
            if hasattr(hook, "set_estimator"):
                hook.set_estimator(self)
        self._estimator.train(given, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: Optional[int] = 1,
        batch_size: Optional[int] = None,
        monitors: Any = None,
    ) -> Any:
        """Train as `fit`, by default one step."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: Optional[int] = None,
        steps: Optional[int] = None,
        metrics: Optional[Mapping[Any, Any]] = None,
        name: Optional[str] = None,
        checkpoint_path: Optional[str] = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """The metrics, the loss and the step, over arrays or what `input_fn` gives."""
        given = feeding(x, y, input_fn, batch_size, shuffle=False, epochs=1)
        self._metrics = metrics
        try:
            return self._estimator.evaluate(given, steps, hooks, checkpoint_path, name)
        finally:
            self._metrics = None

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: Optional[int] = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """The predictions of the model for each example: an iterator, or arrays."""
        given = feeding(x, None, input_fn, batch_size, shuffle=False, epochs=1)
        found = self._estimator.predict(given, outputs, yield_single_examples=not iterate_batches)
        return found if as_iterable else stacked(found, iterate_batches)

    def export_savedmodel(
        self, export_dir_base: str, serving_input_fn: Callable[[], Any], *given: Any, **named: Any
    ) -> Any:
        """Write the model for servers.  See `tf.estimator.Estimator.export_saved_model`."""
        named.pop("default_output_alternative_key", None)
        return self._estimator.export_saved_model(export_dir_base, serving_input_fn, **named)


def feeding(
    x: Any, y: Any, input_fn: Any, batch_size: Optional[int], shuffle: bool, epochs: Optional[int]
) -> Callable[..., Any]:
    """An input function of arrays, unless one is given.

    Raises:
        ValueError: both are given, or none.
    """
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Either x and y, or input_fn must be provided, not both")
        return input_fn  # type: ignore[no-any-return]  # a function
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    features = {k: plain(v) for k, v in x.items()} if isinstance(x, Mapping) else plain(x)
    first = next(iter(features.values())) if isinstance(features, dict) else features
    labels = None if y is None else plain(y)
    return numpy_input_fn(
        features, labels, batch_size or len(first), num_epochs=epochs, shuffle=shuffle
    )


def plain(given: Any) -> Any:
    """Data as an array; of f32 where it has f64."""
    if not hasattr(given, "__array__") and not isinstance(given, (list, tuple)):
        given = list(given)
    array = np.asarray(given)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def stacked(found: Iterable[Any], batches: bool) -> Any:
    """All predictions as arrays."""
    rows = list(found)
    join = np.concatenate if batches else np.stack
    if rows and isinstance(rows[0], dict):
        return {name: join([row[name] for row in rows]) for name in rows[0]}
    return join(rows)


@symbol(
    "contrib.learn.SKCompat",
    "contrib.learn.python.learn.estimators.estimator.SKCompat",
    "contrib.learn.estimators.estimator.SKCompat",
)
class SKCompat:
    """An estimator as scikit-learn has them: arrays in, arrays out."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: Optional[int] = None,
        max_steps: Optional[int] = None,
        monitors: Any = None,
    ) -> Any:
        """Train."""
        self._estimator.fit(x, y, None, steps, batch_size, monitors, max_steps)
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int = 128,
        steps: Optional[int] = None,
        metrics: Any = None,
        name: Optional[str] = None,
    ) -> Any:
        """The metrics."""
        given = {"batch_size": batch_size, "steps": steps, "metrics": metrics, "name": name}
        return self._estimator.evaluate(x, y, **given)

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """The predictions."""
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)

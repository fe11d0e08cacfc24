"""`tf.estimator.Estimator`: a model function with a folder: trained, evaluated, asked, exported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Optional

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.arguments import accepted, argument_names
from byparts_tf_estimator.estimators.checks import (
    NewGraph,
    check_arguments,
    checked_hooks,
    config_of,
)
from byparts_tf_estimator.estimators.evaluating import evaluate_once, steps_hooks, write_metrics
from byparts_tf_estimator.estimators.exporting import export
from byparts_tf_estimator.estimators.feeding import called, features_alone, features_and_labels
from byparts_tf_estimator.estimators.predicting import predictions_of
from byparts_tf_estimator.estimators.spec import EstimatorSpec, ModeKeys
from byparts_tf_estimator.estimators.training import saved_step, train_once
from byparts_tf_estimator.estimators.warm_start import as_settings, warm_start
from byparts_tf_estimator.training.hooks import StopAtStepHook
from byparts_tf_files.checkpoint_reader import load_checkpoint
from byparts_tf_files.checkpoint_state import latest_checkpoint


@symbol("estimator.Estimator")
class Estimator:
    """A model: a function that builds its graph, and a folder with its checkpoints.

    Args:
        model_fn: of features, labels, mode, params and config (those that it takes, by these
            names) gives an `EstimatorSpec`.
        model_dir: the folder; by default that of the config, else a new one.
        config: a `RunConfig`.
        params: given to `model_fn` and to input functions.
        warm_start_from: a checkpoint, or `WarmStartSettings`.

    Raises:
        ValueError: `model_fn` has no features, or two folders are given.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        self._config = config_of(config, model_dir)
        self._model_dir: str = self._config.model_dir
        logging.info("Using config: %s", str(vars(self._config)))
        self._session_config = self._config.session_config
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_arguments(model_fn, params)
        self._model_fn = model_fn
        self._params = params if hasattr(params, "add_hparam") else dict(params or {})
        self._warm_start_settings = as_settings(warm_start_from)

    @property
    def model_dir(self) -> str:
        """The folder of its checkpoints."""
        return self._model_dir

    @property
    def config(self) -> Any:
        """The `RunConfig` of the estimator."""
        return self._config

    @property
    def params(self) -> Any:
        """A copy of its parameters."""
        return self._params.copy() if isinstance(self._params, dict) else self._params

    @property
    def model_fn(self) -> Callable[..., Any]:
        """The model as a function of features, labels, mode and config."""

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config)

        return model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint.

        Raises:
            ValueError: it was not trained.
        """
        return self._checkpoint().get_tensor(name.removesuffix(":0"))

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint.

        Raises:
            ValueError: it was not trained.
        """
        return sorted(self._checkpoint().get_variable_to_shape_map())

    def _checkpoint(self) -> Any:
        if self.latest_checkpoint() is None:
            raise ValueError("Estimator has not been trained yet.")
        return load_checkpoint(self._model_dir)

    def latest_checkpoint(self) -> Optional[str]:
        """The path of the latest checkpoint, or `None`."""
        return latest_checkpoint(self._model_dir)

    def eval_dir(self, name: Optional[str] = None) -> str:
        """The folder of the summaries of an evaluation."""
        return os.path.join(self._model_dir, "eval" if not name else f"eval_{name}")

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Optional[Sequence[Any]] = None,
        steps: Optional[int] = None,
        max_steps: Optional[int] = None,
        saving_listeners: Optional[Sequence[Any]] = None,
    ) -> Any:
        """Train: so many steps more, or up to a step, or until the input ends; itself.

        Raises:
            ValueError: both numbers are given, or one is not positive; a hook is none.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, value in (("steps", steps), ("max_steps", max_steps)):
            if value is not None and value <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {value}")
        if max_steps is not None and max_steps <= saved_step(self._model_dir):
            logging.info("Skipping training since max_steps has already saved.")
            return self
        given = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            given.append(StopAtStepHook(steps, max_steps))
        loss = self._train(input_fn, given, saving_listeners or ())
        logging.info("Loss for final step: %s.", loss)
        return self

    def _train(self, input_fn: Any, hooks: list[Any], listeners: Sequence[Any]) -> Any:
        with self._graph() as step:
            given = self._call_input_fn(input_fn, ModeKeys.TRAIN)
            features, labels, begin = features_and_labels(given)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self._config)
            if self._warm_start_settings is not None:
                logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
                warm_start(*self._warm_start_settings)
            return train_once(spec, step, self._config, [*begin, *hooks], listeners)

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: Optional[int] = None,
        hooks: Optional[Sequence[Any]] = None,
        checkpoint_path: Optional[str] = None,
        name: Optional[str] = None,
    ) -> dict[str, Any]:
        """The metrics of the model, the loss and the step, over batches of the input.

        Args:
            input_fn: gives features and labels.
            steps: batches; by default all.
            hooks: of the session.
            checkpoint_path: by default the latest.
            name: of the evaluation, for its folder.
        """
        given = [*checked_hooks(hooks), *steps_hooks(steps)]
        path = checkpoint_path or self._latest_or_none("evaluate")
        with self._graph() as step:
            features, labels, begin = features_and_labels(
                self._call_input_fn(input_fn, ModeKeys.EVAL)
            )
            spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self._config)
            found = evaluate_once(spec, step, path, self._config, [*begin, *given])
        write_metrics(self.eval_dir(name), found, int(found["global_step"]), path)
        return found

    def _latest_or_none(self, what: str) -> Optional[str]:
        path = latest_checkpoint(self._model_dir)
        if path is None:
            logging.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self._model_dir,
                what,
            )
        return path

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Optional[Sequence[Any]] = None,
        checkpoint_path: Optional[str] = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """The predictions for each example of the input, or for each batch.

        Args:
            input_fn: gives features; labels are left out.
            predict_keys: of predictions that are a dict; by default all.
            hooks: of the session.
            checkpoint_path: by default the latest.
            yield_single_examples: whether each example comes by itself.

        Raises:
            ValueError: no key is one of the predictions; batches are of different sizes.
        """
        given = checked_hooks(hooks)
        path = checkpoint_path or self._latest_or_none("predict")
        with self._graph():
            features, begin = features_alone(self._call_input_fn(input_fn, ModeKeys.PREDICT))
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self._config)
            yield from predictions_of(
                spec, predict_keys, path, self._config, [*begin, *given], yield_single_examples
            )

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Optional[dict[str, str]] = None,
        as_text: bool = False,
        checkpoint_path: Optional[str] = None,
        experimental_mode: str = ModeKeys.PREDICT,
        strip_default_attrs: bool = True,
    ) -> bytes:
        """Write the model for servers into a new folder; its path.

        Args:
            export_dir_base: the folder is in it, named by the time.
            serving_input_receiver_fn: gives a `ServingInputReceiver`.
            assets_extra: name in the saved model -> file that is copied.
            as_text: whether the graph is written as text.
            checkpoint_path: by default the latest.
            experimental_mode: what the model is built for.
            strip_default_attrs: accepted.

        Raises:
            ValueError: it was not trained, or has no outputs to export.
        """
        path = checkpoint_path or self.latest_checkpoint()
        if not path:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        with self._graph():
            receiver = serving_input_receiver_fn()
            features = receiver.features
            spec = self._call_model_fn(features, None, experimental_mode, self._config)
            return export(spec, receiver, path, export_dir_base, assets_extra, as_text)

    export_savedmodel = export_saved_model

    def _call_input_fn(self, input_fn: Any, mode: str) -> Any:
        return called(input_fn, mode, self._params_of(mode), self._config)

    def _params_of(self, mode: str) -> Any:
        return self.params

    def _as_spec(self, given: Any) -> Any:
        return given

    def _graph(self) -> Any:
        return NewGraph(self._config.tf_random_seed)

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        """The spec of the model in this mode.

        Raises:
            ValueError: there are labels, and it takes none; it gives no spec.
        """
        takes = argument_names(self._model_fn)
        if "labels" not in takes and labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        params = self._params_of(mode)
        given = {"labels": labels, "mode": mode, "params": params, "config": config}
        logging.info("Calling model_fn.")
        spec = self._as_spec(self._model_fn(features=features, **accepted(self._model_fn, **given)))
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

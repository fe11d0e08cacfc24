"""`tf.estimator.tpu` as TensorFlow runs it without a TPU: `use_tpu=False`, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional

from byparts_frontend_tf.api import logging
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.arguments import argument_names
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.run_config import RunConfig
from byparts_tf_estimator.estimators.spec import EstimatorSpec, ModeKeys
from byparts_tf_estimator.estimators.tpu_parts import ADVICE
from byparts_tf_estimator.training.session_run_hook import SessionRunArgs, SessionRunHook
from byparts_tf_files.errors import UnimplementedError


def _names(name: str) -> tuple[str, ...]:
    return f"estimator.tpu.{name}", f"contrib.tpu.{name}"


@symbol(*_names("InputPipelineConfig"), "contrib.tpu.python.tpu.tpu_config.InputPipelineConfig")
class InputPipelineConfig:
    """Places in which input functions are called; here once, whatever is said."""

    PER_SHARD_V1, PER_HOST_V1, PER_HOST_V2, BROADCAST, SLICED = 1, 2, 3, 4, 5


class _TPUConfig(NamedTuple):
    iterations_per_loop: int = 2
    num_shards: Optional[int] = None
    num_cores_per_replica: Optional[int] = None
    per_host_input_for_training: Any = True
    tpu_job_name: Optional[str] = None
    initial_infeed_sleep_secs: Optional[int] = None
    input_partition_dims: Any = None
    eval_training_input_configuration: Any = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1


@symbol(*_names("TPUConfig"))
class TPUConfig(_TPUConfig):
    """Options of a TPU; kept, and of no effect."""

    __slots__ = ()


@symbol(*_names("RunConfig"))
class TPURunConfig(RunConfig):
    """Options of the runs of an estimator, with a `TPUConfig`.

    Args:
        tpu_config: kept.
        evaluation_master: accepted.
        master: accepted; empty, as there are no other processes.
        cluster: `None`.
        given: as `tf.estimator.RunConfig`.
    """

    def __init__(
        self,
        tpu_config: Optional[TPUConfig] = None,
        evaluation_master: Optional[str] = None,
        master: Optional[str] = None,
        cluster: Any = None,
        **given: Any,
    ) -> None:
        super().__init__(**given)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        self._master = master or ""
        self._evaluation_master = evaluation_master or self._master


class _TPUSpec(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: Any
    evaluation_hooks: Any
    prediction_hooks: Any


@symbol(*_names("TPUEstimatorSpec"), "contrib.tpu.python.tpu.tpu_estimator.TPUEstimatorSpec")
class TPUEstimatorSpec(_TPUSpec):
    """A model in one mode, with metrics as a function of tensors.  See `EstimatorSpec`.

    Args:
        mode: of `ModeKeys`.
        predictions: name -> tensor.
        loss: a number.
        train_op: takes a step.
        eval_metrics: (function that gives metrics, its arguments: a list or a dict of tensors).
        export_outputs: of a saved model.
        scaffold_fn: gives a scaffold, or `None`.
        host_call: (function, its arguments), run in each step of the training.
        training_hooks: of the training.
        evaluation_hooks: of the evaluation.
        prediction_hooks: of the prediction.
    """

    __slots__ = ()

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metrics: Any = None,
        export_outputs: Any = None,
        scaffold_fn: Optional[Callable[[], Any]] = None,
        host_call: Any = None,
        training_hooks: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> TPUEstimatorSpec:
        """The answer of a model function."""
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None and (len(call) != 2 or not callable(call[0])):
                raise ValueError(f"{name} must be a tuple (function, tensors), given: {call}")
        hooks = training_hooks, evaluation_hooks, prediction_hooks
        call = (scaffold_fn, host_call)
        given = (mode, predictions, loss, train_op, eval_metrics, export_outputs, *call)
        return super().__new__(cls, *given, *hooks)

    def as_estimator_spec(self) -> EstimatorSpec:
        """The model without a TPU."""
        hooks = list(self.training_hooks or ())
        if self.host_call is not None:
            hooks.append(HostCall(_call(self.host_call)))
        metrics = None if self.eval_metrics is None else _call(self.eval_metrics)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=hooks,
            evaluation_hooks=self.evaluation_hooks,
            prediction_hooks=self.prediction_hooks,
        )


def _call(call: Any) -> Any:
    function, tensors = call
    return function(**tensors) if isinstance(tensors, dict) else function(*tensors)


@contextmanager
def _marked(what: str) -> Iterator[None]:
    """Log an error of a loop, and that the loop is finished."""
    try:
        yield
    except Exception as error:
        logging.error("Error recorded from %s: %s", what, error)
        raise
    finally:
        logging.info("%s marked as finished", what)


class HostCall(SessionRunHook):
    """Runs what a model asks for in each step."""

    def __init__(self, fetches: Any) -> None:
        self._fetches = fetches

    def before_run(self, run_context: Any) -> Any:
        """Fetch it, too."""
        return SessionRunArgs(self._fetches)


@symbol(*_names("TPUEstimator"))
class TPUEstimator(Estimator):
    """An estimator whose functions are given `params["batch_size"]`.

    Args:
        model_fn: as of `Estimator`; it may give a `TPUEstimatorSpec`.
        model_dir: the folder.
        config: a `tf.estimator.tpu.RunConfig`.
        params: given to `model_fn` and to input functions, with batch_size and use_tpu.
        use_tpu: has to be false.
        train_batch_size: `params["batch_size"]` in training.
        eval_batch_size: in evaluation.
        predict_batch_size: in prediction.
        batch_axis: accepted.
        eval_on_tpu: accepted.
        export_to_tpu: accepted.
        export_to_cpu: accepted.
        warm_start_from: a checkpoint, or settings.
        more: accepted.

    Raises:
        UnimplementedError: `use_tpu` is true.
        ValueError: the config is no such; `params` has batch_size.
    """

    def __init__(
        self,
        model_fn: Any = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        use_tpu: bool = True,
        train_batch_size: Optional[int] = None,
        eval_batch_size: Optional[int] = None,
        predict_batch_size: Optional[int] = None,
        batch_axis: Any = None,
        eval_on_tpu: bool = True,
        export_to_tpu: bool = True,
        export_to_cpu: bool = True,
        warm_start_from: Any = None,
        **more: Any,
    ) -> None:
        if use_tpu:
            raise UnimplementedError(None, None, f"TPUEstimator(use_tpu=True): {ADVICE}")
        if not isinstance(config, TPURunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and "batch_size" in params:
            raise ValueError("batch_size are reserved keys but existed in params")
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        super().__init__(model_fn, model_dir, config, params, warm_start_from)

    def train(self, *arguments: Any, **given: Any) -> Any:
        """Train as `Estimator.train`."""
        with _marked("training_loop"):
            return super().train(*arguments, **given)

    def evaluate(self, *arguments: Any, **given: Any) -> dict[str, Any]:
        """Evaluate as `Estimator.evaluate`."""
        with _marked("evaluation_loop"):
            return super().evaluate(*arguments, **given)

    def predict(self, *arguments: Any, **given: Any) -> Iterator[Any]:
        """Predict as `Estimator.predict`."""
        with _marked("prediction_loop"):
            yield from super().predict(*arguments, **given)

    def _params_of(self, mode: str) -> Any:
        """The parameters of a mode.  Those of a saved model have no batch size."""
        size = self._batch_sizes[mode]
        params = self.params
        more = {"use_tpu": False, **({} if size is None else {"batch_size": size})}
        if isinstance(params, dict):
            return {**params, **more}
        for name, value in more.items():
            setter = params.set_hparam if name in params.values() else params.add_hparam
            setter(name, value)
        return params

    def _call_input_fn(self, input_fn: Any, mode: str) -> Any:
        if self._batch_sizes[mode] is not None and "params" not in argument_names(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator "
                "to pass batch size as params['batch_size']"
            )
        return super()._call_input_fn(input_fn, mode)

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = super()._call_model_fn(features, labels, mode, config)
        logging.info("Running %s on CPU", mode)
        return spec

    def _as_spec(self, given: Any) -> Any:
        return given.as_estimator_spec() if isinstance(given, TPUEstimatorSpec) else given

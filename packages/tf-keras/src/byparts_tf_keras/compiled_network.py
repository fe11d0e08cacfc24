"""A network that knows how it is trained."""

from __future__ import annotations

from typing import Any, Optional

from byparts_tf_keras import optimizers
from byparts_tf_keras.compiled import Compiled
from byparts_tf_keras.fed_network import FedNetwork


class CompiledNetwork(FedNetwork):
    """A network with a loss, metrics and an optimizer, and the programs made of them.

    Attributes:
        optimizer: as it was compiled.
        history: of the last training.
        stop_training: whether training is to stop.
    """

    def __init__(self, *arguments: Any, **kwargs: Any) -> None:
        self.optimizer: Any = None
        self.loss: Any = None
        self.history: Any = None
        self.stop_training = False
        self._compile_arguments: Optional[dict[str, Any]] = None
        self._made: Optional[Compiled] = None
        super().__init__(*arguments, **kwargs)

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
        **kwargs: Any,
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
            kwargs: run_eagerly, options of sessions: accepted.

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
        """The functions that predict: also without `compile`."""
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
        """The metrics of the compiled model."""
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

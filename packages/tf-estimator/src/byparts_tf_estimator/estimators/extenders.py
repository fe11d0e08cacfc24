"""`tf.contrib.estimator`: an optimizer that clips, an estimator that gives features back."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.clip import clip_by_global_norm
from byparts_frontend_tf.api.train.optimizer import Optimizer
from byparts_frontend_tf.symbols import symbol
from byparts_tf_estimator.estimators.estimator import Estimator


class _Clipping(Optimizer):
    """An optimizer whose gradients have together at most a norm."""

    def __init__(self, optimizer: Any, clip_norm: Any) -> None:
        super().__init__(False, "ClipByNorm" + optimizer.get_name())
        self._clipped, self._norm = optimizer, clip_norm

    def compute_gradients(self, *given: Any, **named: Any) -> Any:
        """Call the optimizer's `compute_gradients`."""
        return self._clipped.compute_gradients(*given, **named)

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: Optional[str] = None
    ) -> Any:
        """The optimizer's step, with clipped gradients."""
        pairs = list(grads_and_vars)
        clipped, _ = clip_by_global_norm([gradient for gradient, _ in pairs], self._norm)
        moved = [(gradient, v) for gradient, (_, v) in zip(clipped, pairs, strict=True)]
        return self._clipped.apply_gradients(moved, global_step, name)

    def get_slot(self, *given: Any, **named: Any) -> Any:
        """Call the optimizer's `get_slot`."""
        return self._clipped.get_slot(*given, **named)

    def get_slot_names(self) -> Any:
        """Call the optimizer's `get_slot_names`."""
        return self._clipped.get_slot_names()


@symbol("contrib.estimator.clip_gradients_by_norm")
def clip_gradients_by_norm(optimizer: Any, clip_norm: Any) -> Any:
    """The optimizer, with gradients whose global norm is at most `clip_norm`."""
    return _Clipping(optimizer, clip_norm)


@symbol("contrib.estimator.forward_features")
def forward_features(estimator: Estimator, keys: Any = None) -> Estimator:
    """A new estimator of the same folder whose predictions have features, too: all, or `keys`.

    Raises:
        ValueError: there is no such feature, or a prediction of its name.
    """

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        spec = estimator._call_model_fn(features, labels, mode, config)
        if not spec.predictions:
            return spec
        wanted = list(features) if keys is None else [keys] if isinstance(keys, str) else keys
        for key in wanted:
            if key not in features:
                raise ValueError(f"keys should be exist in features. Key {key!r} is not")
            if key in spec.predictions:
                raise ValueError(f"Cannot forward feature key ({key}): a prediction has its name")
        more = {key: features[key] for key in wanted}
        return spec._replace(predictions={**spec.predictions, **more})

    return Estimator(model_fn, estimator.model_dir, estimator.config)

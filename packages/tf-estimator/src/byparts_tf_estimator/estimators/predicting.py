"""The predictions of a model, example by example, from a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Optional

from byparts_tf_estimator.estimators.spec import EstimatorSpec
from byparts_tf_estimator.training.monitored_session import ChiefSessionCreator, MonitoredSession


def predictions_of(
    spec: EstimatorSpec,
    keys: Any,
    checkpoint_path: Optional[str],
    config: Any,
    hooks: Sequence[Any],
    single: bool,
) -> Iterator[Any]:
    """The predictions for each example, or for each batch, until the input ends."""
    fetches = chosen(spec.predictions, keys)
    creator = ChiefSessionCreator(
        scaffold=spec.scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        config=config.session_config,
    )
    given = [*hooks, *spec.prediction_hooks]
    with MonitoredSession(session_creator=creator, hooks=given) as session:
        while not session.should_stop():
            batch = session.run(fetches)
            if not single:
                yield batch
            elif not isinstance(batch, dict):
                yield from batch
            else:
                for i in range(_length(batch)):
                    yield {key: value[i] for key, value in batch.items()}


def chosen(predictions: Any, keys: Any) -> Any:
    """Keep the predictions that are asked for.

    Raises:
        ValueError: keys are given and predictions are no dict, or none is there.
    """
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    names = [keys] if isinstance(keys, str) else list(keys)
    found = {name: t for name, t in predictions.items() if name in names}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {list(predictions)}, provided {names}."
        )
    return found


def _length(batch: dict[str, Any]) -> int:
    lengths = {name: len(value) for name, value in batch.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"Batch length of predictions should be same. {lengths} differ.")
    return next(iter(lengths.values()))

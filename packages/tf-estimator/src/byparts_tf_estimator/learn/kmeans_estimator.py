"""`tf.contrib.factorization.KMeansClustering`: clusters of points, as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.graph.collections import GraphKeys
from byparts_frontend_tf.graph.scopes import control_dependencies, get_collection
from byparts_frontend_tf.symbols import named, symbol
from byparts_tf_estimator.columns.layer import input_layer
from byparts_tf_estimator.estimators.estimator import Estimator
from byparts_tf_estimator.estimators.export_outputs import PredictOutput
from byparts_tf_estimator.estimators.spec import EstimatorSpec
from byparts_tf_estimator.learn.clustering import KMeans
from byparts_tf_estimator.training.session_run_hook import SessionRunArgs, SessionRunHook


class _First(SessionRunHook):
    """Makes the first centres, where there are none."""

    def __init__(self, make: Any, made: Any) -> None:
        self._make, self._made = make, made

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Before the first step."""
        if not session.run(self._made):
            session.run(self._make)


class _UntilSmall(SessionRunHook):
    """Stops when a step makes the loss smaller by less than a part of it."""

    def __init__(self, loss: Any, tolerance: float) -> None:
        self._loss, self._tolerance = loss, tolerance
        self._last: Optional[float] = None

    def before_run(self, run_context: Any) -> Any:
        """Ask for the loss."""
        return SessionRunArgs(self._loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Compare it with the last one."""
        loss, last = float(run_values.results), self._last
        if last is not None and abs(loss - last) / (1 + last) < self._tolerance:
            run_context.request_stop()
        self._last = loss


@symbol("contrib.factorization.KMeansClustering")
class KMeansClustering(Estimator):
    """Clusters of points.

    Args:
        num_clusters: how many.
        model_dir: the folder of checkpoints.
        initial_clusters: "random", "kmeans_plus_plus", or the first centres.
        distance_metric: "squared_euclidean" or "cosine".
        random_seed: of the first centres.
        use_mini_batch: whether a step sees a small batch of all points.
        mini_batch_steps_per_iteration: accepted.
        kmeans_plus_plus_num_retries: accepted.
        relative_tolerance: training stops when the loss changes by a smaller part.
        config: a `RunConfig`.
        feature_columns: what of the features are coordinates; by default all, by their names.
    """

    SQUARED_EUCLIDEAN_DISTANCE = KMeans.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = KMeans.COSINE_DISTANCE
    RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = KMeans.RANDOM_INIT, KMeans.KMEANS_PLUS_PLUS_INIT
    SCORE, CLUSTER_INDEX, ALL_DISTANCES = "score", "cluster_index", "all_distances"
    CLUSTER_CENTERS_VAR_NAME = "clusters"

    def __init__(
        self,
        num_clusters: int,
        model_dir: Optional[str] = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: Optional[float] = None,
        config: Any = None,
        feature_columns: Any = None,
    ) -> None:
        how = initial_clusters, distance_metric, use_mini_batch, 1, random_seed
        known = (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE)
        if distance_metric not in known:
            raise ValueError(f"Unsupported distance metric: {distance_metric}")

        def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            points = _points(features, feature_columns)
            distances, nearest, losses, made, make, step = KMeans(
                points, num_clusters, *how
            ).training_graph()
            loss = reduce_sum(losses[0])
            named("summary.scalar")("loss/raw", loss)
            with control_dependencies([step]):
                train_op = named("assign_add")(named("train.get_global_step")(), 1)
            hooks: list[Any] = [_First(make, made)]
            if relative_tolerance is not None:
                hooks.append(_UntilSmall(loss, relative_tolerance))
            found = {self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: nearest[0]}
            output = PredictOutput(found)
            return EstimatorSpec(
                mode=mode,
                predictions=found,
                loss=loss,
                train_op=train_op,
                eval_metric_ops={self.SCORE: named("metrics.mean")(loss)},
                training_hooks=hooks,
                export_outputs={"serving_default": output, "predict": output},
            )

        super().__init__(model_fn, model_dir, config)

    def _found(self, input_fn: Callable[[], Any], key: str) -> Iterator[Any]:
        for row in self.predict(input_fn, [key]):
            yield row[key]

    def predict_cluster_index(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """The cluster of each point."""
        return self._found(input_fn, self.CLUSTER_INDEX)

    def transform(self, input_fn: Callable[[], Any]) -> Iterator[Any]:
        """The distances of each point from all centres."""
        return self._found(input_fn, self.ALL_DISTANCES)

    def score(self, input_fn: Callable[[], Any]) -> Any:
        """The sum of the distances of one batch of points from their centres."""
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def cluster_centers(self) -> Any:
        """The centres: [clusters, width]."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


@symbol("contrib.learn.KMeansClustering")
class LearnKMeansClustering(KMeansClustering):
    """`KMeansClustering` by the names of `contrib.learn`; what is no queue is one batch."""

    SCORES, CLUSTER_IDX, ALL_SCORES, CLUSTERS = "scores", "cluster_idx", "all_scores", "clusters"

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: Optional[int] = None,
        batch_size: Optional[int] = None,
        monitors: Any = None,
        max_steps: Optional[int] = None,
    ) -> LearnKMeansClustering:
        """Train."""
        self.train(input_fn or (lambda: (x, y)), monitors, steps, max_steps)
        return self

    def clusters(self) -> Any:
        """The centres: [clusters, width]."""
        return self.cluster_centers()

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """The cluster of each point."""
        return self._found(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Any = None, steps: Optional[int] = None) -> Any:
        """The sum of the distances of a batch of points from their centres."""
        return self.evaluate(input_fn, steps=steps or 1)[KMeansClustering.SCORE]

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """The distances of each point from all centres."""
        rows = self._found(input_fn, self.ALL_DISTANCES)
        return rows if as_iterable else np.array(list(rows))

    def _found(self, input_fn: Callable[[], Any], key: str) -> Iterator[Any]:
        queues: list[Any] = []

        def noticed() -> Any:
            made = input_fn()
            queues.append(get_collection(GraphKeys.QUEUE_RUNNERS))
            return made

        for batch in self.predict(noticed, [key], yield_single_examples=False):
            yield from batch[key]
            if not queues[-1]:
                return


def _points(features: Any, columns: Any) -> Any:
    if columns:
        return input_layer(features, columns)
    if isinstance(features, dict):
        return concat([features[name] for name in sorted(features)], 1)
    return features

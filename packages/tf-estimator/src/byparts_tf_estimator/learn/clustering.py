"""`tf.contrib.factorization.KMeans`: clusters of points, by Lloyd's rounds or by small batches.

A round gives each cluster the mean of its points; with small batches a cluster moves towards the
mean of its points in the batch, by how many it has had (Sculley 2010, "Web-scale k-means").
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.constant import constant
from byparts_frontend_tf.api.identity import group, identity, no_op
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.binary import div_no_nan
from byparts_frontend_tf.api.math.reduce import argmin, reduce_min, reduce_sum
from byparts_frontend_tf.api.math.unary import square
from byparts_frontend_tf.api.nn.normalization import l2_normalize
from byparts_frontend_tf.api.one_hot import one_hot
from byparts_frontend_tf.api.py_function import py_func
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.api.variables.variables import Variable, assign
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_, float32

SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = "squared_euclidean", "cosine"
RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = "random", "kmeans_plus_plus"


@symbol(
    "contrib.factorization.KMeans",
    "contrib.factorization.python.ops.clustering_ops.KMeans",
)
class KMeans:
    """Clusters of points.

    Args:
        inputs: a tensor [points, width], or a list of them.
        num_clusters: how many.
        initial_clusters: "random", "kmeans_plus_plus", or the first centres.
        distance_metric: "squared_euclidean" or "cosine".
        use_mini_batch: whether the inputs are a small batch of all points.
        mini_batch_steps_per_iteration: accepted.
        random_seed: of the first centres.
        kmeans_plus_plus_num_retries: accepted.
        kmc2_chain_length: accepted.
    """

    SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE = SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE
    RANDOM_INIT, KMEANS_PLUS_PLUS_INIT = RANDOM_INIT, KMEANS_PLUS_PLUS_INIT

    def __init__(
        self,
        inputs: Any,
        num_clusters: int,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"distance_metric is {distance_metric!r}")
        parts = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        points = [convert_to_tensor(p, float32) for p in parts]
        self._points = points[0] if len(points) == 1 else concat(points, 0)
        self._count, self._first = int(num_clusters), initial_clusters
        self._cosine = distance_metric == COSINE_DISTANCE
        self._small, self._seed = use_mini_batch, random_seed

    def training_graph(self) -> tuple[Any, ...]:
        """Tensors and operations that a training needs.

        Returns:
            Lists of one: distances of each point to all centres, its nearest cluster, its distance;
            then whether there are centres, an operation that makes the first ones, and one that
            takes a step.
        """
        x: Any = l2_normalize(self._points, 1) if self._cosine else self._points
        width = x.get_shape().as_list()[1]
        centers = Variable(
            np.zeros([self._count, width], np.float32), trainable=False, name="clusters"
        )
        begun = Variable(False, trainable=False, name="initialized", dtype=bool_)
        total = Variable(np.zeros([self._count], np.float32), trainable=False, name="count")
        distances = self._distances(x, centers)
        nearest = argmin(distances, 1)
        least = reduce_min(distances, [1])
        first = self._begin(x, centers, begun)
        step = self._step(x, nearest, centers, total)
        return [distances], [nearest], [least], identity(begun), first, step

    def _distances(self, x: Any, centers: Any) -> Tensor:
        c: Any = identity(centers)
        if self._cosine:
            made: Tensor = 1.0 - matmul(x, l2_normalize(c, 1), transpose_b=True)
            return made
        squares: Any = expand_dims(reduce_sum(square(x), [1]), 1) + reduce_sum(square(c), [1])
        return squares - 2.0 * matmul(x, c, transpose_b=True)  # type: ignore[no-any-return]  # a tensor

    def _begin(self, x: Any, centers: Any, begun: Any) -> Any:
        if isinstance(self._first, str):
            chosen = py_func(
                lambda p: _first_centers(p, self._count, self._first, self._seed), [x], float32
            )
            chosen.set_shape([self._count, x.get_shape().as_list()[1]])
        else:
            given = self._first(self._points, self._count) if callable(self._first) else self._first
            chosen = convert_to_tensor(given, float32)
        return cond(
            identity(begun),
            no_op,
            lambda: group(assign(centers, chosen), assign(begun, constant(True))),
        )

    def _step(self, x: Any, nearest: Any, centers: Any, total: Any) -> Any:
        owners: Any = one_hot(nearest, self._count, 1.0, 0.0)
        counts = reduce_sum(owners, [0])
        sums = matmul(owners, x, transpose_a=True)
        old: Any = identity(centers)
        has: Any = expand_dims(cast(counts > 0, float32), 1)
        if not self._small:
            means: Any = div_no_nan(sums, expand_dims(counts, 1))
            return assign(centers, has * means + (1.0 - has) * old)
        after: Any = identity(total) + counts
        moved: Any = old + div_no_nan(sums - expand_dims(counts, 1) * old, expand_dims(after, 1))
        return group(assign(centers, moved), assign(total, after))


def _first_centers(points: Any, count: int, how: str, seed: Optional[int]) -> Any:
    """Some of the points; far from each other with "kmeans_plus_plus" (Arthur, Vassilvitskii 2007).

    Raises:
        ValueError: there are fewer points than clusters.
    """
    if len(points) < count:
        raise ValueError(f"KMeans: {len(points)} points for {count} clusters")
    random = np.random.default_rng(seed)
    if how == RANDOM_INIT:
        return points[random.choice(len(points), count, replace=False)]
    chosen = [points[random.integers(len(points))]]
    while len(chosen) < count:
        squares = [np.sum((points - c) ** 2, 1, dtype=np.float64) for c in chosen]
        least = np.min(squares, axis=0)
        share = least / least.sum() if least.sum() > 0 else None
        chosen.append(points[random.choice(len(points), p=share)])
    return np.array(chosen, points.dtype)

"""`tf.edit_distance`: how many changes make one sequence of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import float32


def _distance(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Edit distance: the fewest insertions, deletions and substitutions that make b of a."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (x != y))
    return row[-1]


def _distances(
    at: Any, values: Any, shape: Any, at_b: Any, b: Any, shape_b: Any, *, each: bool
) -> Any:
    dims = np.maximum(shape, shape_b)[:-1]
    made = np.zeros(dims, np.float32)
    rows: list[dict[Any, list[Any]]] = [{}, {}]
    for row, places, found in ((rows[0], at, values), (rows[1], at_b, b)):
        for place, v in zip(places.tolist(), found.tolist(), strict=True):
            row.setdefault(tuple(place[:-1]), []).append(v)
    for place in np.ndindex(*dims):
        truth = rows[1].get(place, [])
        distance = float(_distance(rows[0].get(place, []), truth))
        if each and (truth or distance):
            distance = distance / len(truth) if truth else np.inf
        made[place] = distance
    return made


DISTANCE = Kind(
    "EditDistance",
    host=_distances,
    shape=lambda inputs, each: (
        None
        if inputs[2].dims is None or inputs[2].dims[0] is None
        else (static_dims(inputs[2]) or (None,) * inputs[2].dims[0])[:-1]
    ),
    dtype=float32,
    gradient=False,
)


@symbol("edit_distance")
def edit_distance(
    hypothesis: Any, truth: Any, normalize: bool = True, name: str = "edit_distance"
) -> Tensor:
    """Levenshtein's distance of the rows of two SparseTensors, over the length of the truth.

    Raises:
        TypeError: they are not sparse.
    """
    parts = []
    for given, what in ((hypothesis, "Hypothesis"), (truth, "Truth")):
        if not hasattr(given, "dense_shape"):
            raise TypeError(f"{what} must be a SparseTensor.")
        sp = SparseTensor.from_value(given)
        parts += [sp.indices, sp.values, sp.dense_shape]
    return DISTANCE(*parts, name=name, each=bool(normalize))

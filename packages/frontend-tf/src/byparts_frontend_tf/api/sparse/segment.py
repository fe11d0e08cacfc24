"""`tf.sparse.segment_sum` and the like: sums of rows that indices name, by segments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.segment import (
    count_of_segments,
    unsorted_segment_mean,
    unsorted_segment_sqrt_n,
    unsorted_segment_sum,
)
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope


def _of_gathered(unsorted: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def apply(
        data: TensorLike,
        indices: TensorLike,
        segment_ids: TensorLike,
        name: Optional[str] = None,
        num_segments: Any = None,
    ) -> Tensor:
        with name_scope(name, "SparseSegment"):
            rows, ids = gather(identity(data), indices), convert_to_tensor(segment_ids)
            return unsorted(
                rows, ids, count_of_segments(ids) if num_segments is None else num_segments
            )

    apply.__doc__ = "Of the rows of `data` at `indices`, whose ids ascend."
    apply.__module__ = __name__
    return apply


sparse_segment_sum = _of_gathered(unsorted_segment_sum)
sparse_segment_mean = _of_gathered(unsorted_segment_mean)
sparse_segment_sqrt_n = _of_gathered(unsorted_segment_sqrt_n)
_SPARSE = [f"segment_{how}" for how in ("sum", "mean", "sqrt_n")]
SYMBOLS = {f"{p}{name}": f"sparse_{name}" for p in ("sparse_", "sparse.") for name in _SPARSE}

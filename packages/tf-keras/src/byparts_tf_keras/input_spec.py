"""Requirements of a layer on its inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol


@symbol("layers.InputSpec", "keras.layers.InputSpec")
class InputSpec:
    """Requirements of a layer on an input: dtype, rank, some of its dimensions."""

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: Optional[int] = None,
        max_ndim: Optional[int] = None,
        min_ndim: Optional[int] = None,
        axes: Optional[dict[int, int]] = None,
    ) -> None:
        self.dtype, self.shape, self.ndim = dtype, shape, ndim
        self.max_ndim, self.min_ndim, self.axes = max_ndim, min_ndim, axes or {}

    def misfits(self, tensor: Tensor) -> Iterator[str]:
        """Say what is wrong with a tensor; nothing of one whose rank is not known."""
        if tensor.dims is None:
            return
        rank, shown = len(tensor.dims), list(tensor.dims)
        ends = f", found ndim={rank}. Full shape received: {shown}"
        if self.ndim is not None and rank != self.ndim:
            yield f"expected ndim={self.ndim}{ends}"
        if self.max_ndim is not None and rank > self.max_ndim:
            yield f"expected max_ndim={self.max_ndim}{ends}"
        if self.min_ndim is not None and rank < self.min_ndim:
            yield f"expected min_ndim={self.min_ndim}{ends}"
        for axis, value in self.axes.items():
            if value is not None and tensor.dims[int(axis)] not in (int(value), None):
                yield (
                    f"expected axis {axis} of input shape to have value {value} but received "
                    f"input with shape {shown}"
                )

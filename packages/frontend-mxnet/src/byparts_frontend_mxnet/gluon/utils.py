"""`gluon.utils`: batches on several devices, gradients that are not too long."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.errors import MXNetError
from byparts_frontend_mxnet.nd.array import NDArray
from byparts_frontend_mxnet.test_utils import download as download


def split_data(
    data: NDArray, num_slice: int, batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Parts of a batch, of one size with `even_split`.

    Raises:
        MXNetError: the batch cannot be parted so.
    """
    size = data.shape[batch_axis]
    if even_split and size % num_slice:
        raise MXNetError(
            f"split_data: axis {batch_axis} of {data.shape} is no {num_slice} equal parts; use "
            "another batch size, or even_split=False"
        )
    step = size // num_slice
    ends = [step * i for i in range(num_slice)] + [size]
    pairs = pairwise(ends)
    return [data.slice_axis(axis=batch_axis, begin=a, end=b) for a, b in pairs]


def split_and_load(
    data: Any, ctx_list: Any, batch_axis: int = 0, even_split: bool = True
) -> list[NDArray]:
    """Parts of a batch, one on each device."""
    data = data if isinstance(data, NDArray) else nd.array(data, ctx=ctx_list[0])
    if len(ctx_list) == 1:
        return [data.as_in_context(ctx_list[0])]
    parts = split_data(data, len(ctx_list), batch_axis, even_split)
    return [x.as_in_context(ctx) for x, ctx in zip(parts, ctx_list, strict=True)]


def clip_global_norm(arrays: Any, max_norm: float) -> float:
    """Make arrays shorter in place, so that all together are at most `max_norm` long.

    Returns:
        how long they were.
    """
    total = math.sqrt(sum([float((x * x).sum().asscalar()) for x in arrays]))
    if total > max_norm:
        for x in arrays:
            x *= max_norm / (total + 1e-8)
    return total

"""`tf.nn.embedding_lookup`: rows of tables at ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.math.unary import absolute
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol


@symbol("nn.embedding_lookup")
def embedding_lookup(
    params: Any,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: Optional[str] = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Tensor:
    """The rows of `params` at `ids`; of several tables, id i is in table i mod n ("mod").

    Raises:
        ValueError: there is no table.
    """
    tables = list(params) if isinstance(params, (list, tuple)) else [params]
    if not tables:
        raise ValueError("Need at least one parameter tensor")
    with name_scope(name, "embedding_lookup", [*tables, ids]) as scope:
        at = convert_to_tensor(ids, name="ids")
        if len(tables) > 1:
            rows = _in_tables(tables, at, partition_strategy)
            return rows if max_norm is None else _clipped(rows, at, max_norm)
        rows = gather(tables[0], at, name=scope)
        if max_norm is not None:
            rows = _clipped(rows, at, max_norm)
        return identity(rows)  # type: ignore[no-any-return]  # a tensor


def _clipped(rows: Tensor, ids: Tensor, max_norm: Any) -> Tensor:
    """Each row no longer than `max_norm`; a row has all axes after those of the ids."""
    from byparts_frontend_tf.api.clip import clip_by_norm  # few limit norms

    first, last = len(ids.dims or ()), len(rows.dims or ())
    axes = list(range(first, last)) if rows.dims is not None and ids.dims is not None else [-1]
    return clip_by_norm(rows, max_norm, axes=axes)  # type: ignore[no-any-return]  # a tensor


def _in_tables(tables: Sequence[Any], ids: Tensor, strategy: str) -> Tensor:
    count = len(tables)
    sizes = [convert_to_tensor(t).dims for t in tables]
    whole = concat([convert_to_tensor(t) for t in tables], 0)
    starts = np.cumsum([0, *[int(d[0]) for d in sizes[:-1] if d and d[0] is not None]])
    first = convert_to_tensor(starts.astype(ids.dtype.as_numpy_dtype))
    if strategy == "mod":
        table, row = ids % count, ids // count
        at = gather(first, table) + row
        if all(d and d[0] is not None for d in sizes):  # a row too far would be another table's
            limits = np.array([d[0] for d in sizes if d], ids.dtype.as_numpy_dtype)
            found = (row >= 0) & (row < gather(convert_to_tensor(limits), table))
            at = where(found, at, -1 - absolute(at))
        return gather(whole, at)
    if strategy != "div":
        raise ValueError(f"Unrecognized partition strategy: {strategy}")
    return gather(whole, ids)


@symbol("nn.embedding_lookup_v2")
def embedding_lookup_v2(
    params: Any, ids: TensorLike, max_norm: Any = None, name: Optional[str] = None
) -> Tensor:
    """Look ids up as `embedding_lookup` does, in tables that are cut by "div"."""
    return embedding_lookup(params, ids, "div", name, max_norm=max_norm)

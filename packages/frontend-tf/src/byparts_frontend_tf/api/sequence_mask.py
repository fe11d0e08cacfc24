"""`tf.sequence_mask`: which elements of rows of several lengths are there."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.math.reduce import reduce_max
from byparts_frontend_tf.api.range import range as range_of
from byparts_frontend_tf.api.reshape import expand_dims
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_value
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import as_dtype, bool_, int32


@symbol("sequence_mask")
def sequence_mask(
    lengths: TensorLike, maxlen: Any = None, dtype: Any = bool_, name: Optional[str] = None
) -> Tensor:
    """True for the first n places of a row, for each n of `lengths`: [..., maxlen]."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        counts = convert_to_tensor(lengths)
        most: Any = reduce_max(counts) if maxlen is None else convert_to_tensor(maxlen)
        if most.get_shape().ndims not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        kind = counts.dtype.base_dtype
        known = static_value(most)
        row = range_of(int(known) if known is not None else cast(most, int32))
        if kind.is_floating:  # TensorFlow casts the lengths to the dtype of `maxlen`
            counts, kind = cast(counts, int32), int32
        mask: Tensor = cast(row, kind) < expand_dims(counts, -1)
        wanted = as_dtype(dtype)
        return mask if wanted is bool_ else cast(mask, wanted)

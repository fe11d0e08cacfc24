"""`tf.sparse_retain`: some of the elements.

How many there are is known only when it runs, and what reads them is a program of its own for each
number: dropout on a sparse input would compile a program at each step.  A product with a matrix
needs not know it: it reads all elements, with zeros for those that are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.reshape import reshape
from byparts_frontend_tf.api.sparse.dense import sparse
from byparts_frontend_tf.api.sparse.reshape import picked
from byparts_frontend_tf.api.where import where
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import bool_


class Retained(SparseTensor):
    """Some elements of a SparseTensor.

    Args:
        given: these elements.
        whole: makes all elements, with zeros for those that are left out.
    """

    def __init__(self, given: SparseTensor, whole: Callable[[], SparseTensor]) -> None:
        super().__init__(given.indices, given.values, given.dense_shape)
        self.whole = whole


def whole_of(sp: SparseTensor) -> SparseTensor:
    """The tensor that a product reads in place of `sp`: all elements, if some are left out."""
    return sp.whole() if isinstance(sp, Retained) else sp


@symbol("sparse_retain", "sparse.retain")
def sparse_retain(sp_input: Any, to_retain: TensorLike) -> SparseTensor:
    """The elements for which `to_retain` [n] holds."""
    sp = sparse(sp_input)
    kept = convert_to_tensor(to_retain, bool_)
    kept.shape.assert_is_compatible_with(sp.values.shape)

    def whole() -> SparseTensor:
        return SparseTensor(sp.indices, sp.values * cast(kept, sp.dtype), sp.dense_shape)

    some = picked(sp, reshape(where(kept), [-1]))
    return Retained(some, whole)

"""Operations of a file that are of no kind that is here: refused when a run needs them."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from byparts_frontend_tf.graph.kind import KINDS, Kind
from byparts_frontend_tf.graph.operation import Operation
from byparts_frontend_tf.node_defs.node import Node
from byparts_tf_files.dtypes import DType, float32
from byparts_tf_files.errors import UnimplementedError

_DTYPES = ("dtype", "DstT", "out_type", "output_type", "Tout", "output_types", "T", "Tparams")
_FUNCTIONS = ("PyFunc", "PyFuncStateless", "EagerPyFunc")


class Missing(Kind):
    """A kind that is only a name.

    Args:
        type: TensorFlow's name.
        why: what is to be said of it.
    """

    __slots__ = ("_why",)

    def __init__(self, type: str, why: str) -> None:
        self.type, self.meaning, self.host, self.special = type, None, None, self._refuse
        self.values, self.gradient, self._why = (), False, why
        self.allowed = None
        self.dtype = lambda inputs, dtypes: dtypes
        self.shape = lambda inputs, dtypes: [None] * len(dtypes)

    def _refuse(self, lowering: Any, op: Operation) -> NoReturn:
        raise UnimplementedError(
            None, op, f"{self.type} {op.name!r} of an imported graph{self._why}"
        )


def missing(node: Node, outputs: int) -> Operation:
    """An operation with the name, type and inputs of a node, which cannot be run."""
    near = get_close_matches(node.type, KINDS, 1)
    more = f"; the nearest that is: {near[0]}" if near else ""
    why = f" is of a type that is not here{more}; feed what it gives"
    if node.type in KINDS or node.type in _FUNCTIONS:
        why = " needs a Python function, which no file holds; make it again, or feed what it gives"
    return Missing(node.type, why).operation(
        node.inputs, node.name, dtypes=_dtypes(node, max(1, outputs))
    )


def _dtypes(node: Node, count: int) -> Sequence[DType]:
    for name in _DTYPES:
        given = node.attribute(name)
        if isinstance(given, DType):
            return [given.base_dtype] * count
        if isinstance(given, list) and given and isinstance(given[0], DType):
            return ([d.base_dtype for d in given] + [float32] * count)[:count]
    return [float32] * count

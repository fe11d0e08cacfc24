"""Constant folding: computes nodes whose inputs are all constants.

`Op.evaluate` gives the result, so no op needs a rule of its own.  There are two forms of result:

- An elementwise op on `Fill`s is evaluated on one element and gives a `Fill`, at any size.
- Anything else small is evaluated whole and becomes a `Constant`, or a `Fill` where all of its
  elements are the same bits.

"Small" keeps large arrays out of the program: a result has at most `limit_bytes`, or at most as
many bytes as the constants that it is computed from (e.g. a transposed weight).
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import Graph, Node, Rule, Value, has_effect, subgraphs
from byparts_graph_ir.contract import checked
from byparts_graph_ir.passes.sizes import is_sized
from byparts_opset.constant import Constant, Fill, constant, fill
from byparts_opset.dtypes import dtype_name, numpy_dtype
from byparts_optimize.inside import inside

Array = NDArray[Any]

LIMIT_BYTES = 64 * 1024
_MAX_INPUT_BYTES = 64 * LIMIT_BYTES  # a Fill of gigabytes is never expanded in memory


@checked
def fold(graph: Graph, *, limit_bytes: int = LIMIT_BYTES) -> Graph:
    """Return the program with nodes replaced whose inputs are all constants.

    Preserves values to the bit (to one rounding of the dtype where a backend's
    kernel differs from `evaluate`), effects and their order.  Idempotent.  O(nodes) and the ops
    themselves; enters subgraphs.
    """
    return graph.rewrite(fold_rule(limit_bytes))


def fold_rule(limit_bytes: int) -> Rule:
    """The pass as a rule for `Graph.rewrite`."""

    def rule(node: Node) -> Optional[tuple[Value, ...]]:
        node = inside(node, lambda g: fold(g, limit_bytes=limit_bytes))
        if node.inputs and _foldable(node):
            folded = _fold_fills(node) or _fold_small(node, limit_bytes)
            if folded is not None:
                return folded
        return node.outputs

    return rule


def _foldable(node: Node) -> bool:
    """Whether every input is a constant, and NumPy has all dtypes.

    Never a node with bodies: a loop might run for a long time or forever.
    """
    if subgraphs(node.op):
        return False
    for v in node.inputs:
        if v.node is None or v.node.inputs or has_effect(v.node.op) or not is_sized(v.node):
            return False
    if has_effect(node.op):
        return False
    values = (*node.inputs, *node.outputs)
    return all(v.type.static and _holds(v.type.dtype) for v in values)


def _holds(dtype: str) -> bool:
    """Whether NumPy has the dtype: bf16 needs a package that is not always there."""
    try:
        numpy_dtype(dtype)
    except ImportError:
        return False
    return True


def _fold_fills(node: Node) -> Optional[tuple[Value, ...]]:
    if node.op.pattern != "elementwise" or len(node.outputs) != 1:
        return None
    ops = [v.node.op for v in node.inputs if v.node is not None]
    fills = [op for op in ops if isinstance(op, Fill)]
    if len(fills) != len(node.inputs):
        return None
    (y,) = node.op.evaluate(*(np.asarray(f.value, numpy_dtype(f.dtype)) for f in fills))
    (out,) = node.outputs
    return (fill(y.item(), out.type.dtype, out.type.dims),)


def _fold_small(node: Node, limit_bytes: int) -> Optional[tuple[Value, ...]]:
    makers = [v.node.op for v in node.inputs if v.node is not None]
    literal_bytes = sum(len(op.data) for op in makers if isinstance(op, Constant))
    result_bytes = sum(v.type.size_bytes for v in node.outputs)
    input_bytes = sum(v.type.size_bytes for v in node.inputs)
    if result_bytes > max(limit_bytes, literal_bytes) or input_bytes > _MAX_INPUT_BYTES:
        return None
    inputs = [v.node.op.evaluate()[v.node.outputs.index(v)] for v in node.inputs if v.node]
    return tuple(_literal(y) for y in node.op.evaluate(*inputs))


def _literal(y: Array) -> Value:
    """`y` as a constant; a `Fill` where all elements are the same bits."""
    data = y.tobytes()
    if y.size and data == data[: y.itemsize] * y.size:
        return fill(y.flat[0].item(), dtype_name(y.dtype), y.shape)
    return constant(y)

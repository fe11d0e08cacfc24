"""Another op of a name that the standard ops have."""

from byparts_graph_ir import Op
from byparts_graph_ir.parts.hooks import Ops, hookimpl

BYPARTS_API = (1, 0)


class Tanh(Op):
    """y = x, which is not what others mean by tanh."""

    def infer(self, x):
        return (x,)


OPS = {"tanh": Tanh}


@hookimpl
def byparts_ops():
    return [Ops("other", "bad_tanh:OPS")]

"""TinyFlow's API: `import byparts_frontend_tf.tinyflow as tf`, and its programs run unchanged."""

from typing import NoReturn

from byparts_frontend_tf.tinyflow import nn, train
from byparts_frontend_tf.tinyflow.nn import (
    avg_pool,
    batch_normalization,
    conv2d,
    flatten_layer,
    linear,
    max_pool,
    mean_sparse_softmax_cross_entropy_with_logits,
)
from byparts_frontend_tf.tinyflow.ops import (
    argmax,
    div,
    equal,
    exp,
    gradients,
    log,
    matmul,
    mul,
    ones,
    ones_like,
    pad,
    pow,
    reduce_mean,
    reduce_sum,
    relu,
    softmax,
    sqrt,
    tanh,
    zeros,
    zeros_like,
)
from byparts_frontend_tf.tinyflow.random import normal, set_random_seed
from byparts_frontend_tf.tinyflow.session import Session
from byparts_frontend_tf.tinyflow.shapes import infer_variable_shapes
from byparts_frontend_tf.tinyflow.state import (
    Variable,
    assign,
    float32,
    group,
    initialize_all_variables,
    placeholder,
    reset_default_graph,
)
from byparts_graph_ir import Value as Symbol

SymbolBase = Symbol
Group = list  # fetching several symbols together gives their values together

__all__ = [
    "nn",
    "train",
    "avg_pool",
    "batch_normalization",
    "conv2d",
    "flatten_layer",
    "linear",
    "max_pool",
    "mean_sparse_softmax_cross_entropy_with_logits",
    "argmax",
    "div",
    "equal",
    "exp",
    "gradients",
    "log",
    "matmul",
    "mul",
    "ones",
    "ones_like",
    "pad",
    "pow",
    "reduce_mean",
    "reduce_sum",
    "relu",
    "softmax",
    "sqrt",
    "tanh",
    "zeros",
    "zeros_like",
    "normal",
    "set_random_seed",
    "Session",
    "infer_variable_shapes",
    "Variable",
    "assign",
    "float32",
    "group",
    "initialize_all_variables",
    "placeholder",
    "reset_default_graph",
    "Symbol",
    "SymbolBase",
    "Group",
]

_NOT_HERE = {
    "AttrScope": "string attributes of symbols are not kept: attributes are typed fields of ops",
    "symbol": "symbols are values of the graph IR; see byparts_graph_ir.Value and byparts_opset",
}


def __getattr__(name: str) -> NoReturn:
    """Say why a name of TinyFlow is not here.

    Raises:
        AttributeError: always.
    """
    why = f": {_NOT_HERE[name]}" if name in _NOT_HERE else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{why}")

"""TinyFlow's API: `import byparts_tinyflow as tf`, and its programs run unchanged."""

# isort: off
# fmt: off
from typing import NoReturn

from byparts_tf_files.dtypes import float32
from byparts_frontend_tf.graph.operation import Tensor as Symbol
from byparts_frontend_tf.graph.operators import Operators as SymbolBase
from byparts_frontend_tf.graph.stack import reset_default_graph
from byparts_tinyflow import nn, train
from byparts_tinyflow.functions import (
    argmax, div, equal, exp, gradients, log, matmul, mul, normal, ones, ones_like, pad, pow,
    reduce_mean, reduce_sum, relu, set_random_seed, softmax, sqrt, tanh, zeros, zeros_like,
)
from byparts_tinyflow.nn import (
    avg_pool, batch_normalization, conv2d, flatten_layer, linear, max_pool,
    mean_sparse_softmax_cross_entropy_with_logits,
)
from byparts_tinyflow.session import Session, infer_variable_shapes
from byparts_tinyflow.state import (
    Variable, assign, group, initialize_all_variables, placeholder,
)

__version__ = "0.2.0"

Group = list  # fetching several symbols together gives their values together

__all__ = [
    "nn", "train", "avg_pool", "batch_normalization", "conv2d", "flatten_layer", "linear",
    "max_pool", "mean_sparse_softmax_cross_entropy_with_logits", "argmax", "div", "equal", "exp",
    "gradients", "log", "matmul", "mul", "normal", "ones", "ones_like", "pad", "pow", "reduce_mean",
    "reduce_sum", "relu", "set_random_seed", "softmax", "sqrt", "tanh", "zeros", "zeros_like",
    "Session", "infer_variable_shapes", "Variable", "assign", "float32", "group",
    "initialize_all_variables", "placeholder", "reset_default_graph", "Symbol", "SymbolBase",
    "Group",
]
# fmt: on

_NOT_HERE = {
    "AttrScope": "string attributes of symbols are not kept: attributes are typed fields of ops",
    "symbol": "symbols are tensors, of TensorFlow's graph: byparts_frontend_tf.Tensor",
}


def __getattr__(name: str) -> NoReturn:
    """Say why a name of TinyFlow is not here.

    Raises:
        AttributeError: always.
    """
    why = f": {_NOT_HERE[name]}" if name in _NOT_HERE else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{why}")

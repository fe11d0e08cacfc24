"""The standard ops: shape rules, NumPy meaning, gradients, samples.

One block for each module; the modules with ops stand in `registry.py` also.
"""

from byparts_opset.activation import (
    Elu,
    Gelu,
    LeakyRelu,
    Relu,
    Selu,
    Sigmoid,
    Silu,
    Softplus,
    Softsign,
    elu,
    gelu,
    leaky_relu,
    relu,
    relu6,
    selu,
    sigmoid,
    silu,
    softplus,
    softsign,
)
from byparts_opset.activation_gradient import (
    GeluGradient,
    ReluGradient,
    SigmoidGradient,
    SiluGradient,
    TanhGradient,
    gelu_gradient,
    relu_gradient,
    sigmoid_gradient,
    silu_gradient,
    tanh_gradient,
)
from byparts_opset.argmax import ArgMax, ArgMin, argmax, argmin
from byparts_opset.arithmetic import lift
from byparts_opset.attention import Attention, AttentionGradient, attention
from byparts_opset.batch_norm import (
    BatchNorm,
    BatchNormGradient,
    BatchNormInference,
    batch_norm,
    batch_norm_inference,
    moving_average,
)
from byparts_opset.binary import (
    Add,
    Atan2,
    Div,
    Floordiv,
    Maximum,
    Minimum,
    Mod,
    Mul,
    Pow,
    SquaredDifference,
    Sub,
    add,
    add_n,
    atan2,
    div,
    floordiv,
    maximum,
    minimum,
    mod,
    mul,
    pow,
    squared_difference,
    sub,
)
from byparts_opset.broadcast_to import BroadcastTo, broadcast_to
from byparts_opset.cast import Cast, cast
from byparts_opset.compare import (
    Equal,
    Greater,
    GreaterEqual,
    IsFinite,
    IsInf,
    IsNan,
    Less,
    LessEqual,
    NotEqual,
    equal,
    greater,
    greater_equal,
    is_finite,
    is_inf,
    is_nan,
    less,
    less_equal,
    not_equal,
)
from byparts_opset.composite import gradient_by_decomposition, is_zero
from byparts_opset.constant import (
    Constant,
    Eye,
    Fill,
    Range,
    arange,
    constant,
    eye,
    fill,
    ones,
    zeros,
)
from byparts_opset.conv2d import (
    Conv2d,
    Conv2dFilterGradient,
    Conv2dInputGradient,
    Conv2dTranspose,
    conv2d,
)
from byparts_opset.conv2d_transpose import conv2d_transpose
from byparts_opset.cross_entropy import (
    SoftmaxCrossEntropy,
    SparseSoftmaxCrossEntropy,
    softmax_cross_entropy,
    sparse_softmax_cross_entropy,
)
from byparts_opset.cumulative import CumSum, cumsum
from byparts_opset.dropout import Dropout, dropout
from byparts_opset.einsum import Einsum, einsum
from byparts_opset.error_function import Erf, Erfc, Erfinv, erf, erfc, erfinv
from byparts_opset.hyperbolic import (
    Acosh,
    Asinh,
    Atanh,
    Cosh,
    Sinh,
    Tanh,
    acosh,
    asinh,
    atanh,
    cosh,
    sinh,
    tanh,
)
from byparts_opset.identity import (
    Identity,
    Print,
    StopGradient,
    identity,
    print_value,
    stop_gradient,
)
from byparts_opset.index import Gather, OneHot, ScatterAdd, gather, one_hot, scatter_add
from byparts_opset.join import Concat, Split, SplitLike, concat, split, stack, unstack
from byparts_opset.layer_norm import LayerNorm, LayerNormGradient, layer_norm
from byparts_opset.like import (
    BroadcastLike,
    CountLike,
    ReshapeLike,
    SumLike,
    broadcast_like,
    count_like,
    fill_like,
    ones_like,
    reshape_like,
    sum_like,
    zeros_like,
)
from byparts_opset.logic import (
    LogicalAnd,
    LogicalNot,
    LogicalOr,
    LogicalXor,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from byparts_opset.matmul import MatMul, matmul
from byparts_opset.optimizer import (
    Adam,
    GradientDescent,
    Momentum,
    adam,
    gradient_descent,
    momentum,
)
from byparts_opset.pad import Pad, pad
from byparts_opset.pool import (
    AveragePool,
    AveragePoolGradient,
    MaxPool,
    MaxPoolGradient,
    MaxPoolGradientGradient,
    average_pool,
    global_average_pool,
    global_max_pool,
    max_pool,
)
from byparts_opset.prod import Prod, ProdOfOthers, prod, prod_of_others
from byparts_opset.random import (
    Bernoulli,
    RandomUniform,
    bernoulli,
    next_counter,
    random_int,
    random_uniform,
)
from byparts_opset.random_normal import (
    RandomNormal,
    TruncatedNormal,
    random_normal,
    truncated_normal,
)
from byparts_opset.reduce import (
    All,
    Any,
    LogSumExp,
    Max,
    Mean,
    Min,
    Sum,
    all,
    any,
    logsumexp,
    max,
    mean,
    min,
    sum,
)
from byparts_opset.registry import OPS
from byparts_opset.reshape import (
    ExpandDims,
    Flatten,
    Reshape,
    Squeeze,
    expand_dims,
    flatten,
    reshape,
    squeeze,
)
from byparts_opset.reverse import Reverse, reverse
from byparts_opset.rounding import Ceil, Floor, Round, Trunc, ceil, floor, round, trunc
from byparts_opset.select import Clip, Select, clip, select, where
from byparts_opset.slicing import Slice, SliceGradient, getitem
from byparts_opset.softmax import (
    LogSoftmax,
    LogSoftmaxGradient,
    Softmax,
    SoftmaxGradient,
    log_softmax,
    log_softmax_gradient,
    softmax,
    softmax_gradient,
)
from byparts_opset.tile import Tile, tile
from byparts_opset.top_k import TopK, top_k
from byparts_opset.transpose import Transpose, transpose
from byparts_opset.trigonometric import (
    Acos,
    Asin,
    Atan,
    Cos,
    Sin,
    Tan,
    acos,
    asin,
    atan,
    cos,
    sin,
    tan,
)
from byparts_opset.unary import (
    Abs,
    Exp,
    Expm1,
    Log,
    Log1p,
    Neg,
    Reciprocal,
    Rsqrt,
    Sign,
    Sqrt,
    Square,
    abs,
    exp,
    expm1,
    log,
    log1p,
    neg,
    reciprocal,
    rsqrt,
    sign,
    sqrt,
    square,
)

# Several to a line, or this file would be twice as long; a test says which is missing.
# fmt: off
__all__ = [
    "Abs", "Acos", "Acosh", "Adam", "Add", "All", "Any", "ArgMax", "ArgMin", "Asin", "Asinh",
    "Atan", "Atan2", "Atanh", "Attention", "AttentionGradient", "AveragePool",
    "AveragePoolGradient", "BatchNorm", "BatchNormGradient", "BatchNormInference", "Bernoulli",
    "BroadcastLike", "BroadcastTo", "Cast", "Ceil", "Clip", "Concat", "Constant", "Conv2d",
    "Conv2dFilterGradient", "Conv2dInputGradient", "Conv2dTranspose", "Cos", "Cosh", "CountLike",
    "CumSum", "Div", "Dropout", "Einsum", "Elu", "Equal", "Erf", "Erfc", "Erfinv", "Exp",
    "ExpandDims", "Expm1", "Eye", "Fill", "Flatten", "Floor", "Floordiv", "Gather", "Gelu",
    "GeluGradient", "GradientDescent", "Greater", "GreaterEqual", "Identity", "IsFinite", "IsInf",
    "IsNan", "LayerNorm", "LayerNormGradient", "LeakyRelu", "Less", "LessEqual", "Log", "Log1p",
    "LogSoftmax", "LogSoftmaxGradient", "LogSumExp", "LogicalAnd", "LogicalNot", "LogicalOr",
    "LogicalXor", "MatMul", "Max", "MaxPool", "MaxPoolGradient", "MaxPoolGradientGradient",
    "Maximum", "Mean", "Min", "Minimum", "Mod", "Momentum", "Mul", "Neg", "NotEqual", "OPS",
    "OneHot", "Pad", "Pow", "Print", "Prod", "ProdOfOthers", "RandomNormal", "RandomUniform",
    "Range", "Reciprocal", "Relu", "ReluGradient", "Reshape", "ReshapeLike", "Reverse", "Round",
    "Rsqrt", "ScatterAdd", "Select", "Selu", "Sigmoid", "SigmoidGradient", "Sign", "Silu",
    "SiluGradient", "Sin", "Sinh", "Slice", "SliceGradient", "Softmax", "SoftmaxCrossEntropy",
    "SoftmaxGradient", "Softplus", "Softsign", "SparseSoftmaxCrossEntropy", "Split", "SplitLike",
    "Sqrt", "Square", "SquaredDifference", "Squeeze", "StopGradient", "Sub", "Sum", "SumLike",
    "Tan", "Tanh", "TanhGradient", "Tile", "TopK", "Transpose", "Trunc", "TruncatedNormal", "abs",
    "acos", "acosh", "adam", "add", "add_n", "all", "any", "arange", "argmax", "argmin", "asin",
    "asinh", "atan", "atan2", "atanh", "attention", "average_pool", "batch_norm",
    "batch_norm_inference", "bernoulli", "broadcast_like", "broadcast_to", "cast", "ceil", "clip",
    "concat", "constant", "conv2d", "conv2d_transpose", "cos", "cosh", "count_like", "cumsum",
    "div", "dropout", "einsum", "elu", "equal", "erf", "erfc", "erfinv", "exp", "expand_dims",
    "expm1", "eye", "fill", "fill_like", "flatten", "floor", "floordiv", "gather", "gelu",
    "gelu_gradient", "getitem", "global_average_pool", "global_max_pool",
    "gradient_by_decomposition", "gradient_descent", "greater", "greater_equal", "identity",
    "is_finite", "is_inf", "is_nan", "is_zero", "layer_norm", "leaky_relu", "less", "less_equal",
    "lift", "log", "log1p", "log_softmax", "log_softmax_gradient", "logical_and", "logical_not",
    "logical_or", "logical_xor", "logsumexp", "matmul", "max", "max_pool", "maximum", "mean", "min",
    "minimum", "mod", "momentum", "moving_average", "mul", "neg", "next_counter", "not_equal",
    "one_hot", "ones", "ones_like", "pad", "pow", "print_value", "prod", "prod_of_others",
    "random_int", "random_normal", "random_uniform", "reciprocal", "relu", "relu6", "relu_gradient",
    "reshape", "reshape_like", "reverse", "round", "rsqrt", "scatter_add", "select", "selu",
    "sigmoid", "sigmoid_gradient", "sign", "silu", "silu_gradient", "sin", "sinh", "softmax",
    "softmax_cross_entropy", "softmax_gradient", "softplus", "softsign",
    "sparse_softmax_cross_entropy", "split", "sqrt", "square", "squared_difference", "squeeze",
    "stack", "stop_gradient", "sub", "sum", "sum_like", "tan", "tanh", "tanh_gradient", "tile",
    "top_k", "transpose", "trunc", "truncated_normal", "unstack", "where", "zeros", "zeros_like",
]
# fmt: on

__version__ = "0.1.0"

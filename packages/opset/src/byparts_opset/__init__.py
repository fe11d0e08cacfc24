"""The standard ops: shape rules, NumPy meaning, gradients, samples.

A name's module is imported when the name is first used.
"""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

# From here on written by `python tools/opset_names.py`; a test says when stale.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_opset.activation import *  # noqa: F403
    from byparts_opset.add_matmul import *  # noqa: F403
    from byparts_opset.along_axis import *  # noqa: F403
    from byparts_opset.argmax import *  # noqa: F403
    from byparts_opset.arithmetic import (
        lift as lift,
    )
    from byparts_opset.attention import *  # noqa: F403
    from byparts_opset.axes import *  # noqa: F403
    from byparts_opset.batch_norm import *  # noqa: F403
    from byparts_opset.binary import *  # noqa: F403
    from byparts_opset.branch import *  # noqa: F403
    from byparts_opset.call import *  # noqa: F403
    from byparts_opset.cast import *  # noqa: F403
    from byparts_opset.compare import *  # noqa: F403
    from byparts_opset.composite import (
        gradient_by_decomposition as gradient_by_decomposition,
        is_zero as is_zero,
    )
    from byparts_opset.constant import *  # noqa: F403
    from byparts_opset.conv2d import *  # noqa: F403
    from byparts_opset.conv2d_transpose import (
        conv2d_transpose as conv2d_transpose,
    )
    from byparts_opset.cross_entropy import *  # noqa: F403
    from byparts_opset.cumulative import *  # noqa: F403
    from byparts_opset.descend_rows import *  # noqa: F403
    from byparts_opset.dropout import *  # noqa: F403
    from byparts_opset.einsum import *  # noqa: F403
    from byparts_opset.error_function import *  # noqa: F403
    from byparts_opset.gelu import *  # noqa: F403
    from byparts_opset.identity import *  # noqa: F403
    from byparts_opset.index import *  # noqa: F403
    from byparts_opset.join import *  # noqa: F403
    from byparts_opset.layer_norm import *  # noqa: F403
    from byparts_opset.like import *  # noqa: F403
    from byparts_opset.logic import *  # noqa: F403
    from byparts_opset.loop import *  # noqa: F403
    from byparts_opset.matmul import *  # noqa: F403
    from byparts_opset.optimizer import *  # noqa: F403
    from byparts_opset.order import *  # noqa: F403
    from byparts_opset.pad import *  # noqa: F403
    from byparts_opset.pool import *  # noqa: F403
    from byparts_opset.prod import *  # noqa: F403
    from byparts_opset.random import *  # noqa: F403
    from byparts_opset.random_normal import *  # noqa: F403
    from byparts_opset.reduce import *  # noqa: F403
    from byparts_opset.registry import (
        OPS as OPS,
    )
    from byparts_opset.reshape import *  # noqa: F403
    from byparts_opset.scan import *  # noqa: F403
    from byparts_opset.select import *  # noqa: F403
    from byparts_opset.signs import *  # noqa: F403
    from byparts_opset.slicing import *  # noqa: F403
    from byparts_opset.softmax import *  # noqa: F403
    from byparts_opset.trigonometric import *  # noqa: F403
    from byparts_opset.unary import *  # noqa: F403
    from byparts_opset.while_gradient import *  # noqa: F403

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        checked=True,
        registry="OPS",
        constant="Constant Eye Fill Range arange constant eye fill ones zeros",
        identity="Identity Print StopGradient identity print_value stop_gradient",
        cast="Cast cast",
        unary=(
            "Abs Ceil Exp Expm1 Floor Log Log1p Neg Reciprocal Round Rsqrt Sign Sqrt Square Trunc "
            "abs ceil exp expm1 floor log log1p neg reciprocal round rsqrt sign sqrt square trunc"
        ),
        trigonometric=(
            "Acos Acosh Asin Asinh Atan Atanh Cos Cosh Sin Sinh Tan Tanh acos acosh asin asinh "
            "atan atanh cos cosh sin sinh tan tanh"
        ),
        error_function="Erf Erfc Erfinv erf erfc erfinv",
        activation=(
            "Elu LeakyRelu Relu Relu6 ReluGradient Selu Sigmoid SigmoidGradient Softplus Softsign "
            "TanhGradient elu leaky_relu log_sigmoid relu relu6 relu_gradient selu sigmoid "
            "sigmoid_gradient softplus softsign tanh_gradient"
        ),
        gelu="Gelu GeluGradient Silu SiluGradient gelu gelu_gradient silu silu_gradient",
        binary=(
            "Add Atan2 Div Floordiv Maximum Minimum Mod Mul Pow SquaredDifference Sub add add_n "
            "atan2 div floordiv maximum minimum mod mul pow squared_difference sub"
        ),
        compare=(
            "Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual NotEqual equal "
            "greater greater_equal is_finite is_inf is_nan less less_equal not_equal"
        ),
        logic=(
            "BitwiseAnd BitwiseOr BitwiseXor LogicalAnd LogicalNot LogicalOr LogicalXor ShiftLeft "
            "ShiftRight bitwise_and bitwise_not bitwise_or bitwise_xor logical_and logical_not "
            "logical_or logical_xor shift_left shift_right"
        ),
        select="Clip Select clip select where",
        like=(
            "BroadcastLike CountLike ReshapeLike SumLike broadcast_like count_like fill_like "
            "ones_like reshape_like sum_like zeros_like"
        ),
        reduce="All Any LogSumExp Max Mean Min Sum all any logsumexp max mean min norm std sum var",
        prod="Prod ProdOfOthers prod prod_of_others",
        argmax="ArgMax ArgMin TopK argmax argmin top_k",
        cumulative="CumProd CumSum LinearRecurrence cumprod cumsum linear_recurrence",
        reshape="ExpandDims Flatten Reshape Squeeze expand_dims flatten reshape squeeze",
        axes="BroadcastTo Reverse Tile Transpose broadcast_to repeat reverse tile transpose",
        join="Concat Split SplitLike concat split stack unstack",
        slicing="Slice SliceGradient getitem",
        pad="Pad pad",
        index=(
            "Gather InRange OneHot Scatter ScatterAdd gather in_range one_hot scatter scatter_add"
        ),
        matmul="MatMul matmul",
        add_matmul="AddMatmul",
        einsum="Einsum einsum",
        conv2d="Conv2d Conv2dFilterGradient Conv2dInputGradient Conv2dTranspose conv2d",
        conv2d_transpose="conv2d_transpose",
        pool=(
            "AveragePool AveragePoolGradient MaxPool MaxPoolGradient MaxPoolGradientGradient "
            "average_pool global_average_pool global_max_pool max_pool"
        ),
        softmax=(
            "LogSoftmax LogSoftmaxGradient Softmax SoftmaxGradient log_softmax "
            "log_softmax_gradient softmax softmax_gradient"
        ),
        cross_entropy=(
            "BinaryCrossEntropy SoftmaxCrossEntropy SparseSoftmaxCrossEntropy "
            "binary_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy"
        ),
        random="Bernoulli RandomUniform bernoulli next_counter random_int random_uniform",
        random_normal="RandomNormal TruncatedNormal random_normal truncated_normal",
        dropout="Dropout dropout",
        batch_norm=(
            "BatchNorm BatchNormGradient BatchNormInference batch_norm batch_norm_inference "
            "moving_average"
        ),
        layer_norm="LayerNorm LayerNormGradient layer_norm",
        attention="Attention AttentionGradient attention",
        optimizer="Adam GradientDescent Momentum adam gradient_descent momentum",
        arithmetic="lift",
        call="Call call",
        branch="If cond",
        loop="While while_loop",
        while_gradient="WhileGradient",
        scan="Scan scan",
        composite="gradient_by_decomposition is_zero",
        along_axis="AddAlongAxis TakeAlongAxis add_along_axis take_along_axis",
        order="ArgSort SearchSorted Sort argsort searchsorted sort",
        signs="CopySign NextAfter SignBit copysign nextafter signbit",
        descend_rows="DescendRows descend_rows",
    )
    import byparts_opset.arithmetic

    byparts_opset.arithmetic.register(byparts_opset)  # Python's operators on values

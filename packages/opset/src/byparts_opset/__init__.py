"""The standard ops: shape rules, NumPy meaning, gradients, samples.

One line for each module, in reading order, and one block for type checkers; a test compares them.
"""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_opset.activation import (
        Elu as Elu,
        Gelu as Gelu,
        LeakyRelu as LeakyRelu,
        Relu as Relu,
        Relu6 as Relu6,
        Selu as Selu,
        Sigmoid as Sigmoid,
        Silu as Silu,
        Softplus as Softplus,
        Softsign as Softsign,
        elu as elu,
        gelu as gelu,
        leaky_relu as leaky_relu,
        relu as relu,
        relu6 as relu6,
        selu as selu,
        sigmoid as sigmoid,
        silu as silu,
        softplus as softplus,
        softsign as softsign,
    )
    from byparts_opset.activation_gradient import (
        GeluGradient as GeluGradient,
        ReluGradient as ReluGradient,
        SigmoidGradient as SigmoidGradient,
        SiluGradient as SiluGradient,
        TanhGradient as TanhGradient,
        gelu_gradient as gelu_gradient,
        relu_gradient as relu_gradient,
        sigmoid_gradient as sigmoid_gradient,
        silu_gradient as silu_gradient,
        tanh_gradient as tanh_gradient,
    )
    from byparts_opset.argmax import (
        ArgMax as ArgMax,
        ArgMin as ArgMin,
        argmax as argmax,
        argmin as argmin,
    )
    from byparts_opset.arithmetic import (
        lift as lift,
    )
    from byparts_opset.attention import (
        Attention as Attention,
        AttentionGradient as AttentionGradient,
        attention as attention,
    )
    from byparts_opset.batch_norm import (
        BatchNorm as BatchNorm,
        BatchNormGradient as BatchNormGradient,
        BatchNormInference as BatchNormInference,
        batch_norm as batch_norm,
        batch_norm_inference as batch_norm_inference,
        moving_average as moving_average,
    )
    from byparts_opset.binary import (
        Add as Add,
        Atan2 as Atan2,
        Div as Div,
        Floordiv as Floordiv,
        Maximum as Maximum,
        Minimum as Minimum,
        Mod as Mod,
        Mul as Mul,
        Pow as Pow,
        SquaredDifference as SquaredDifference,
        Sub as Sub,
        add as add,
        add_n as add_n,
        atan2 as atan2,
        div as div,
        floordiv as floordiv,
        maximum as maximum,
        minimum as minimum,
        mod as mod,
        mul as mul,
        pow as pow,
        squared_difference as squared_difference,
        sub as sub,
    )
    from byparts_opset.binary_cross_entropy import (
        BinaryCrossEntropy as BinaryCrossEntropy,
        binary_cross_entropy as binary_cross_entropy,
    )
    from byparts_opset.bits import (
        BitwiseAnd as BitwiseAnd,
        BitwiseOr as BitwiseOr,
        BitwiseXor as BitwiseXor,
        bitwise_and as bitwise_and,
        bitwise_not as bitwise_not,
        bitwise_or as bitwise_or,
        bitwise_xor as bitwise_xor,
    )
    from byparts_opset.branch import (
        If as If,
        cond as cond,
    )
    from byparts_opset.broadcast_to import (
        BroadcastTo as BroadcastTo,
        broadcast_to as broadcast_to,
    )
    from byparts_opset.call import (
        Call as Call,
        call as call,
    )
    from byparts_opset.cast import (
        Cast as Cast,
        cast as cast,
    )
    from byparts_opset.compare import (
        Equal as Equal,
        Greater as Greater,
        GreaterEqual as GreaterEqual,
        IsFinite as IsFinite,
        IsInf as IsInf,
        IsNan as IsNan,
        Less as Less,
        LessEqual as LessEqual,
        NotEqual as NotEqual,
        equal as equal,
        greater as greater,
        greater_equal as greater_equal,
        is_finite as is_finite,
        is_inf as is_inf,
        is_nan as is_nan,
        less as less,
        less_equal as less_equal,
        not_equal as not_equal,
    )
    from byparts_opset.composite import (
        gradient_by_decomposition as gradient_by_decomposition,
        is_zero as is_zero,
    )
    from byparts_opset.constant import (
        Constant as Constant,
        Eye as Eye,
        Fill as Fill,
        Range as Range,
        arange as arange,
        constant as constant,
        eye as eye,
        fill as fill,
        ones as ones,
        zeros as zeros,
    )
    from byparts_opset.conv2d import (
        Conv2d as Conv2d,
        Conv2dFilterGradient as Conv2dFilterGradient,
        Conv2dInputGradient as Conv2dInputGradient,
        Conv2dTranspose as Conv2dTranspose,
        conv2d as conv2d,
    )
    from byparts_opset.conv2d_transpose import (
        conv2d_transpose as conv2d_transpose,
    )
    from byparts_opset.cross_entropy import (
        SoftmaxCrossEntropy as SoftmaxCrossEntropy,
        SparseSoftmaxCrossEntropy as SparseSoftmaxCrossEntropy,
        softmax_cross_entropy as softmax_cross_entropy,
        sparse_softmax_cross_entropy as sparse_softmax_cross_entropy,
    )
    from byparts_opset.cumulative import (
        CumSum as CumSum,
        cumsum as cumsum,
    )
    from byparts_opset.dropout import (
        Dropout as Dropout,
        dropout as dropout,
    )
    from byparts_opset.einsum import (
        Einsum as Einsum,
        einsum as einsum,
    )
    from byparts_opset.error_function import (
        Erf as Erf,
        Erfc as Erfc,
        Erfinv as Erfinv,
        erf as erf,
        erfc as erfc,
        erfinv as erfinv,
    )
    from byparts_opset.hyperbolic import (
        Acosh as Acosh,
        Asinh as Asinh,
        Atanh as Atanh,
        Cosh as Cosh,
        Sinh as Sinh,
        Tanh as Tanh,
        acosh as acosh,
        asinh as asinh,
        atanh as atanh,
        cosh as cosh,
        sinh as sinh,
        tanh as tanh,
    )
    from byparts_opset.identity import (
        Identity as Identity,
        Print as Print,
        StopGradient as StopGradient,
        identity as identity,
        print_value as print_value,
        stop_gradient as stop_gradient,
    )
    from byparts_opset.index import (
        Gather as Gather,
        OneHot as OneHot,
        Scatter as Scatter,
        ScatterAdd as ScatterAdd,
        gather as gather,
        one_hot as one_hot,
        scatter as scatter,
        scatter_add as scatter_add,
    )
    from byparts_opset.join import (
        Concat as Concat,
        Split as Split,
        SplitLike as SplitLike,
        concat as concat,
        split as split,
        stack as stack,
        unstack as unstack,
    )
    from byparts_opset.layer_norm import (
        LayerNorm as LayerNorm,
        LayerNormGradient as LayerNormGradient,
        layer_norm as layer_norm,
    )
    from byparts_opset.like import (
        BroadcastLike as BroadcastLike,
        CountLike as CountLike,
        ReshapeLike as ReshapeLike,
        SumLike as SumLike,
        broadcast_like as broadcast_like,
        count_like as count_like,
        fill_like as fill_like,
        ones_like as ones_like,
        reshape_like as reshape_like,
        sum_like as sum_like,
        zeros_like as zeros_like,
    )
    from byparts_opset.logic import (
        LogicalAnd as LogicalAnd,
        LogicalNot as LogicalNot,
        LogicalOr as LogicalOr,
        LogicalXor as LogicalXor,
        logical_and as logical_and,
        logical_not as logical_not,
        logical_or as logical_or,
        logical_xor as logical_xor,
    )
    from byparts_opset.loop import (
        While as While,
        while_loop as while_loop,
    )
    from byparts_opset.matmul import (
        MatMul as MatMul,
        matmul as matmul,
    )
    from byparts_opset.norm import (
        norm as norm,
        std as std,
        var as var,
    )
    from byparts_opset.optimizer import (
        Adam as Adam,
        GradientDescent as GradientDescent,
        Momentum as Momentum,
        adam as adam,
        gradient_descent as gradient_descent,
        momentum as momentum,
    )
    from byparts_opset.pad import (
        Pad as Pad,
        pad as pad,
    )
    from byparts_opset.pool import (
        AveragePool as AveragePool,
        AveragePoolGradient as AveragePoolGradient,
        MaxPool as MaxPool,
        MaxPoolGradient as MaxPoolGradient,
        MaxPoolGradientGradient as MaxPoolGradientGradient,
        average_pool as average_pool,
        global_average_pool as global_average_pool,
        global_max_pool as global_max_pool,
        max_pool as max_pool,
    )
    from byparts_opset.prod import (
        Prod as Prod,
        ProdOfOthers as ProdOfOthers,
        prod as prod,
        prod_of_others as prod_of_others,
    )
    from byparts_opset.random import (
        Bernoulli as Bernoulli,
        RandomUniform as RandomUniform,
        bernoulli as bernoulli,
        next_counter as next_counter,
        random_int as random_int,
        random_uniform as random_uniform,
    )
    from byparts_opset.random_normal import (
        RandomNormal as RandomNormal,
        TruncatedNormal as TruncatedNormal,
        random_normal as random_normal,
        truncated_normal as truncated_normal,
    )
    from byparts_opset.reduce import (
        All as All,
        Any as Any,
        LogSumExp as LogSumExp,
        Max as Max,
        Mean as Mean,
        Min as Min,
        Sum as Sum,
        all as all,
        any as any,
        logsumexp as logsumexp,
        max as max,
        mean as mean,
        min as min,
        sum as sum,
    )
    from byparts_opset.registry import (
        OPS as OPS,
    )
    from byparts_opset.reshape import (
        ExpandDims as ExpandDims,
        Flatten as Flatten,
        Reshape as Reshape,
        Squeeze as Squeeze,
        expand_dims as expand_dims,
        flatten as flatten,
        reshape as reshape,
        squeeze as squeeze,
    )
    from byparts_opset.reverse import (
        Reverse as Reverse,
        reverse as reverse,
    )
    from byparts_opset.rounding import (
        Ceil as Ceil,
        Floor as Floor,
        Round as Round,
        Trunc as Trunc,
        ceil as ceil,
        floor as floor,
        round as round,
        trunc as trunc,
    )
    from byparts_opset.scan import (
        Scan as Scan,
        scan as scan,
    )
    from byparts_opset.select import (
        Clip as Clip,
        Select as Select,
        clip as clip,
        select as select,
        where as where,
    )
    from byparts_opset.slicing import (
        Slice as Slice,
        SliceGradient as SliceGradient,
        getitem as getitem,
    )
    from byparts_opset.softmax import (
        LogSoftmax as LogSoftmax,
        LogSoftmaxGradient as LogSoftmaxGradient,
        Softmax as Softmax,
        SoftmaxGradient as SoftmaxGradient,
        log_softmax as log_softmax,
        log_softmax_gradient as log_softmax_gradient,
        softmax as softmax,
        softmax_gradient as softmax_gradient,
    )
    from byparts_opset.tile import (
        Tile as Tile,
        tile as tile,
    )
    from byparts_opset.top_k import (
        TopK as TopK,
        top_k as top_k,
    )
    from byparts_opset.transpose import (
        Transpose as Transpose,
        transpose as transpose,
    )
    from byparts_opset.trigonometric import (
        Acos as Acos,
        Asin as Asin,
        Atan as Atan,
        Cos as Cos,
        Sin as Sin,
        Tan as Tan,
        acos as acos,
        asin as asin,
        atan as atan,
        cos as cos,
        sin as sin,
        tan as tan,
    )
    from byparts_opset.unary import (
        Abs as Abs,
        Exp as Exp,
        Expm1 as Expm1,
        Log as Log,
        Log1p as Log1p,
        Neg as Neg,
        Reciprocal as Reciprocal,
        Rsqrt as Rsqrt,
        Sign as Sign,
        Sqrt as Sqrt,
        Square as Square,
        abs as abs,
        exp as exp,
        expm1 as expm1,
        log as log,
        log1p as log1p,
        neg as neg,
        reciprocal as reciprocal,
        rsqrt as rsqrt,
        sign as sign,
        sqrt as sqrt,
        square as square,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        checked=True,
        registry="OPS",
        constant="Constant Eye Fill Range arange constant eye fill ones zeros",
        identity="Identity Print StopGradient identity print_value stop_gradient",
        cast="Cast cast",
        unary=(
            "Abs Exp Expm1 Log Log1p Neg Reciprocal Rsqrt Sign Sqrt Square abs exp expm1 log "
            "log1p neg reciprocal rsqrt sign sqrt square"
        ),
        trigonometric="Acos Asin Atan Cos Sin Tan acos asin atan cos sin tan",
        hyperbolic="Acosh Asinh Atanh Cosh Sinh Tanh acosh asinh atanh cosh sinh tanh",
        error_function="Erf Erfc Erfinv erf erfc erfinv",
        rounding="Ceil Floor Round Trunc ceil floor round trunc",
        activation=(
            "Elu Gelu LeakyRelu Relu Relu6 Selu Sigmoid Silu Softplus Softsign elu gelu leaky_relu "
            "relu relu6 selu sigmoid silu softplus softsign"
        ),
        activation_gradient=(
            "GeluGradient ReluGradient SigmoidGradient SiluGradient TanhGradient gelu_gradient "
            "relu_gradient sigmoid_gradient silu_gradient tanh_gradient"
        ),
        binary=(
            "Add Atan2 Div Floordiv Maximum Minimum Mod Mul Pow SquaredDifference Sub add add_n "
            "atan2 div floordiv maximum minimum mod mul pow squared_difference sub"
        ),
        compare=(
            "Equal Greater GreaterEqual IsFinite IsInf IsNan Less LessEqual NotEqual equal "
            "greater greater_equal is_finite is_inf is_nan less less_equal not_equal"
        ),
        logic=(
            "LogicalAnd LogicalNot LogicalOr LogicalXor logical_and logical_not logical_or "
            "logical_xor"
        ),
        bits="BitwiseAnd BitwiseOr BitwiseXor bitwise_and bitwise_not bitwise_or bitwise_xor",
        select="Clip Select clip select where",
        like=(
            "BroadcastLike CountLike ReshapeLike SumLike broadcast_like count_like fill_like "
            "ones_like reshape_like sum_like zeros_like"
        ),
        reduce="All Any LogSumExp Max Mean Min Sum all any logsumexp max mean min sum",
        prod="Prod ProdOfOthers prod prod_of_others",
        norm="norm std var",
        argmax="ArgMax ArgMin argmax argmin",
        cumulative="CumSum cumsum",
        reshape="ExpandDims Flatten Reshape Squeeze expand_dims flatten reshape squeeze",
        transpose="Transpose transpose",
        reverse="Reverse reverse",
        broadcast_to="BroadcastTo broadcast_to",
        tile="Tile tile",
        join="Concat Split SplitLike concat split stack unstack",
        slicing="Slice SliceGradient getitem",
        pad="Pad pad",
        index="Gather OneHot Scatter ScatterAdd gather one_hot scatter scatter_add",
        top_k="TopK top_k",
        matmul="MatMul matmul",
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
            "SoftmaxCrossEntropy SparseSoftmaxCrossEntropy softmax_cross_entropy "
            "sparse_softmax_cross_entropy"
        ),
        binary_cross_entropy="BinaryCrossEntropy binary_cross_entropy",
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
        scan="Scan scan",
        composite="gradient_by_decomposition is_zero",
    )
    import byparts_opset.arithmetic  # noqa: F401  # Python's operators on values

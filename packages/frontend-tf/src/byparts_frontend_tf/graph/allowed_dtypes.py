"""Dtypes that the first input of an operation may have, as TensorFlow 1.15 registers it."""

from __future__ import annotations

_ROWS = {
    "bfloat16 float16 float32 float64 int32 int64 complex64 complex128": (
        "Acos:x Asin:x Atan:x BatchMatMulV2:x Diag:diagonal DiagPart:input MatMul:a Neg:x "
        "Reciprocal:x Round:x Sign:x Square:x SquaredDifference:x Tan:x"
    ),
    "bfloat16 float16 float32 float64 complex64 complex128": (
        "Acosh:x Asinh:x Atanh:x Cos:x Cosh:x Exp:x Expm1:x Log:x Log1p:x Rsqrt:x "
        "Sigmoid:x Sin:x Sinh:x Sqrt:x Tanh:x"
    ),
    (
        "bfloat16 float16 float32 float64 uint8 int8 int16 int32 int64 complex64 complex128 string"
    ): "Add:x",
    (
        "float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 "
        "complex128 float16 uint32 uint64"
    ): (
        "AddN:inputs ArgMax:input ArgMin:input BiasAdd:value Cumprod:x Cumsum:x Max:input "
        "Mean:input Min:input Prod:input Sum:input UnsortedSegmentProd:data "
        "UnsortedSegmentSum:data"
    ),
    "float16 float32": (
        "AdjustContrastv2:images AdjustHue:images AdjustSaturation:images "
        "NonMaxSuppressionV3:boxes NonMaxSuppressionV4:boxes"
    ),
    "int8 int16 int32 int64 complex64 complex128 float32 float64 bool": "AsString:input",
    "bfloat16 float16 float32 float64": (
        "Atan2:y BesselI0e:x BesselI1e:x Ceil:x CheckNumerics:tensor Digamma:x Erf:x "
        "Erfc:x Floor:x IsFinite:x IsInf:x IsNan:x Lgamma:x Rint:x"
    ),
    "float16 bfloat16 float32 float64": (
        "AvgPool:value AvgPool3D:input Conv2D:input Conv3D:input "
        "DepthwiseConv2dNative:input Elu:features HSVToRGB:images L2Loss:t "
        "LogSoftmax:logits RGBToHSV:images Selu:features Softmax:logits "
        "SoftmaxCrossEntropyWithLogits:features Softplus:features Softsign:features "
        "SparseSoftmaxCrossEntropyWithLogits:features"
    ),
    "float32 float64": (
        "Betainc:a CTCBeamSearchDecoder:inputs CTCGreedyDecoder:inputs Igamma:a Igammac:a Zeta:x"
    ),
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64": (
        "BitwiseAnd:x BitwiseOr:x BitwiseXor:x Invert:x LeftShift:x RightShift:x"
    ),
    "float64 float32 float16 complex64 complex128": (
        "Cholesky:input MatrixInverse:input MatrixSolve:matrix "
        "MatrixTriangularSolve:matrix Qr:input SelfAdjointEigV2:input Svd:input"
    ),
    "complex64 complex128": "Conj:input",
    "int32 int64": "InvertPermutation:x",
    "uint8 uint16 int8 int16 int32 int64 float16 float32 float64": "CropAndResize:image",
    ("float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 uint32 uint64"): (
        "Cross:a ExtractImagePatches:images Greater:x GreaterEqual:x Less:x LessEqual:x "
        "MaxPoolWithArgmax:input Multinomial:logits Relu:features Relu6:features "
        "TopKV2:input"
    ),
    "float16 float32 float64 complex64 complex128": (
        "DivNoNan:x LogMatrixDeterminant:input MatrixDeterminant:input MulNoNan:x Xdivy:x Xlogy:x"
    ),
    "float32 float16": "DrawBoundingBoxesV2:images",
    "uint8 uint16": "EncodePng:image",
    (
        "bfloat16 float16 float32 float64 uint8 int8 int16 int32 int64 complex64 string "
        "bool complex128"
    ): "Equal:x NotEqual:x",
    (
        "bfloat16 float16 float32 float64 uint8 int8 uint16 int16 int32 int64 complex64 complex128"
    ): "FloorDiv:x Mul:x RealDiv:x Sub:x TruncateDiv:x",
    "int32 int64 bfloat16 float16 float32 float64": "FloorMod:x TruncateMod:x",
    "float16 bfloat16 float32": "LRN:input MaxPool3D:input",
    "bfloat16 float32 float64": "LinSpace:start",
    "float16 bfloat16 float32 float64 int32 int64 uint8 int16 int8 uint16": "MaxPool:input",
    "bfloat16 float16 float32 float64 int32 int64": "Maximum:x Minimum:x",
    "uint8 int32 int64": "OneHot:indices",
    (
        "bfloat16 float16 float32 float64 int8 uint8 int16 uint16 int32 int64 complex64 "
        "complex128 bool"
    ): "OnesLike:x",
    "bfloat16 float32 float16 float64 int32 int64 complex64 complex128": "Pow:x",
    "bfloat16 float32 float64 int32 int64": "Range:start",
    "int8 uint8 int16 uint16 int32 int64 float16 float32 float64": (
        "ResizeArea:images ResizeBicubic:images ResizeNearestNeighbor:images"
    ),
    "int8 uint8 int16 uint16 int32 int64 bfloat16 float16 float32 float64": "ResizeBilinear:images",
    (
        "uint8 int8 uint16 int16 int32 int64 bool bfloat16 float16 float32 float64 "
        "complex64 complex128 string"
    ): "ReverseV2:tensor",
}

# type of operation -> (TensorFlow's name of the input, its dtypes)
ALLOWED: dict[str, tuple[str, tuple[str, ...]]] = {}
for _dtypes, _operations in _ROWS.items():
    for _operation in _operations.split():
        _type, _, _argument = _operation.partition(":")
        ALLOWED[_type] = _argument, tuple(_dtypes.split())

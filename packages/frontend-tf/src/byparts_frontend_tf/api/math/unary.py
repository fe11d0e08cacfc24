"""`tf.math.exp`, `tf.math.abs` and so on: functions of one tensor, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.elementwise import COMPLEX, FLOATS, NUMBERS, unary
from byparts_frontend_tf.graph.convert import TensorLike
from byparts_frontend_tf.graph.operation import Tensor
from byparts_graph_ir import FLOATS as OWN_FLOATS, Value
from byparts_tf_files.dtypes import DType, bool_

_SIGNED = tuple(n for n in NUMBERS if not n.startswith("uint"))
_MIXED = (*FLOATS, *COMPLEX)


def real_part(inputs: Sequence[Tensor]) -> DType:
    """The dtype of the real part of the first input."""
    return inputs[0].dtype.base_dtype.real_dtype


def _floor(x: Value) -> Value:
    return ops.floor(x) if x.type.dtype in OWN_FLOATS else x


def _rounded(x: Value) -> Value:
    return ops.round(x) if x.type.dtype in OWN_FLOATS else x


negative = unary("Neg", ops.neg, _SIGNED, host=np.negative)
_absolute = unary("Abs", ops.abs, NUMBERS, host=np.abs, dtype=real_part)
exp = unary("Exp", ops.exp, _MIXED, host=np.exp)
expm1 = unary("Expm1", ops.expm1, _MIXED, host=np.expm1)
log = unary("Log", ops.log, _MIXED, host=np.log)
log1p = unary("Log1p", ops.log1p, _MIXED, host=np.log1p)
sqrt = unary("Sqrt", ops.sqrt, _MIXED, host=np.sqrt)
rsqrt = unary("Rsqrt", ops.rsqrt, _MIXED, host=lambda x: 1 / np.sqrt(x))
square = unary("Square", ops.square, NUMBERS, host=np.square)
reciprocal = unary("Reciprocal", ops.reciprocal, _MIXED, host=lambda x: 1 / x)
sign = unary("Sign", lambda x: ops.stop_gradient(ops.sign(x)), NUMBERS)  # its gradient is 0
floor = unary("Floor", _floor, gradient=False)
ceil = unary("Ceil", ops.ceil, gradient=False)
round = unary("Round", _rounded, NUMBERS, gradient=False)
rint = unary("Rint", ops.round, gradient=False)
sin = unary("Sin", ops.sin, _MIXED, host=np.sin)
cos = unary("Cos", ops.cos, _MIXED, host=np.cos)
tan = unary("Tan", ops.tan, _MIXED, host=np.tan)
asin = unary("Asin", ops.asin)
acos = unary("Acos", ops.acos)
atan = unary("Atan", ops.atan)
sinh = unary("Sinh", ops.sinh, _MIXED, host=np.sinh)
cosh = unary("Cosh", ops.cosh, _MIXED, host=np.cosh)
asinh = unary("Asinh", ops.asinh, _MIXED, host=np.arcsinh)
acosh = unary("Acosh", ops.acosh, _MIXED, host=np.arccosh)
atanh = unary("Atanh", ops.atanh, _MIXED, host=np.arctanh)
erf = unary("Erf", ops.erf)
erfc = unary("Erfc", ops.erfc)
tanh = unary("Tanh", ops.tanh, _MIXED, host=np.tanh)
sigmoid = unary("Sigmoid", ops.sigmoid, _MIXED, host=lambda x: 1 / (1 + np.exp(-x)))
logical_not = unary("LogicalNot", ops.logical_not, ("bool",), gradient=False)
is_nan = unary("IsNan", ops.is_nan, dtype=bool_, gradient=False)
is_inf = unary("IsInf", ops.is_inf, dtype=bool_, gradient=False)
is_finite = unary("IsFinite", ops.is_finite, dtype=bool_, gradient=False)

softplus = unary("Softplus", ops.softplus, FLOATS, "features")
softsign = unary("Softsign", ops.softsign, FLOATS, "features")


def absolute(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """Numbers without their signs; of complex ones their lengths."""
    parts = x.complex_parts if isinstance(x, Tensor) else None
    if parts is None:
        return _absolute(x, name)
    from byparts_frontend_tf.api.math.complex import LENGTH  # complex numbers are rare

    length: Tensor = LENGTH(*parts, name=name or "Abs")
    return length


_IN_MATH = (
    *("abs:absolute", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "square", "reciprocal"),
    *("negative", "sign", "floor", "ceil", "round", "rint", "sin", "cos", "tan", "asin", "acos"),
    *("atan", "sinh", "cosh", "asinh", "acosh", "atanh", "erf", "erfc", "tanh", "sigmoid"),
    *("logical_not", "is_nan", "is_inf", "is_finite"),
)
_IN_NN = ("softplus", "softsign", "tanh", "sigmoid")
SYMBOLS = {
    **{f"{p}{s.partition(':')[0]}": s.rpartition(":")[2] for p in ("", "math.") for s in _IN_MATH},
    **{f"nn.{s}": s for s in _IN_NN},
    "math.softplus": "softplus",
    "math.softsign": "softsign",
    **{f"debugging.{s}": s for s in ("is_nan", "is_inf", "is_finite")},
}

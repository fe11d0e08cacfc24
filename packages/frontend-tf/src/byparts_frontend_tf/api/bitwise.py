"""`tf.bitwise`: operations on the bits of integers."""

from __future__ import annotations

from collections.abc import Callable

import byparts_opset as ops
from byparts_frontend_tf.api.elementwise import INTEGERS, binary, unary
from byparts_graph_ir import Value

bitwise_and = binary("BitwiseAnd", ops.bitwise_and, INTEGERS, gradient=False)
bitwise_or = binary("BitwiseOr", ops.bitwise_or, INTEGERS, gradient=False)
bitwise_xor = binary("BitwiseXor", ops.bitwise_xor, INTEGERS, gradient=False)
invert = unary("Invert", ops.bitwise_not, INTEGERS, gradient=False)


def _shifted(sign: int) -> Callable[[Value, Value], Value]:
    def meaning(x: Value, by: Value) -> Value:
        power = ops.cast(ops.pow(ops.fill(2.0, "f64"), ops.cast(by, "f64")), x.type.dtype)
        return x * power if sign > 0 else ops.floordiv(x, power)

    return meaning


left_shift = binary("LeftShift", _shifted(1), INTEGERS, gradient=False)
right_shift = binary("RightShift", _shifted(-1), INTEGERS, gradient=False)
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift")
SYMBOLS = {f"bitwise.{name}": name for name in _BITS}

"""`tf.bitwise`: operations on the bits of integers."""

from __future__ import annotations

import byparts_opset as ops
from byparts_frontend_tf.api.elementwise import INTEGERS, binary, unary

bitwise_and = binary("BitwiseAnd", ops.bitwise_and, INTEGERS, gradient=False)
bitwise_or = binary("BitwiseOr", ops.bitwise_or, INTEGERS, gradient=False)
bitwise_xor = binary("BitwiseXor", ops.bitwise_xor, INTEGERS, gradient=False)
invert = unary("Invert", ops.bitwise_not, INTEGERS, gradient=False)
left_shift = binary("LeftShift", ops.shift_left, INTEGERS, gradient=False)
right_shift = binary("RightShift", ops.shift_right, INTEGERS, gradient=False)
_BITS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift")
SYMBOLS = {f"bitwise.{name}": name for name in _BITS}

"""`tf.nn.relu` and its kind."""

from __future__ import annotations

import byparts_opset as ops
from byparts_frontend_tf.api.elementwise import FLOATS, INTEGERS, unary

relu = unary("Relu", ops.relu, (*FLOATS, *INTEGERS), "features")


relu6 = unary("Relu6", ops.relu6, (*FLOATS, *INTEGERS), "features")


elu = unary("Elu", lambda x: ops.elu(x), FLOATS, "features")
selu = unary("Selu", ops.selu, FLOATS, "features")

SYMBOLS = {f"nn.{name}": name for name in ("relu", "relu6", "elu", "selu")}

"""The standard ops: shape rules, NumPy meaning, gradients, samples.

Names are imported one block for each module, in reading order; the modules with ops stand in
`registry.py` also.
"""

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
from byparts_opset.like import (
    broadcast_like,
    count_like,
    fill_like,
    ones_like,
    reshape_like,
    sum_like,
    zeros_like,
)
from byparts_opset.unary import Neg, neg
from byparts_opset.binary import Add, Div, Mul, Sub, add, div, mul, sub
from byparts_opset.registry import OPS
from byparts_opset import arithmetic as _arithmetic

__version__ = "0.1.0"

"""Exercise 2, solved."""

import byparts_opset as ops
from byparts_opset.elementwise import Unary, computed


class Bump(Unary):
    """y = 1 / (1 + (x / width)^2), elementwise."""

    width: float = 1.0
    examples = ((), (2.0,))  # the fields of the ops that the kit tries

    def evaluate(self, x):
        return computed(lambda x: 1 / (1 + (x / self.width) ** 2), x)

    def decompose(self, x):
        return (1.0 / (1.0 + ops.square(x / self.width)),)

    def gradient(self, node, dy):
        x, y = node.inputs[0], node.outputs[0]
        return (dy * y * y * x * (-2 / self.width**2),)

"""Exercise 2: an op and its gradient; the task is in task.md."""

import numpy as np  # noqa: F401

import byparts_opset as ops  # noqa: F401
from byparts_opset.elementwise import Unary, computed  # noqa: F401


class Bump(Unary):
    """y = 1 / (1 + (x / width)^2), elementwise."""

    width: float = 1.0
    examples = ((), (2.0,))  # the fields of the ops that the kit tries

    def evaluate(self, x):
        """What the op means, in NumPy: x is an array; a tuple of one array."""
        raise NotImplementedError

    def decompose(self, x):
        """The same in ops that there are: x is a value; a tuple of one value."""
        raise NotImplementedError

    def gradient(self, node, dy):
        """The gradient of the input, from that of the output: a tuple of one value."""
        raise NotImplementedError

"""`function.Defun`."""

from __future__ import annotations

from typing import Any

import pytest

import byparts_frontend_tf as tf

function = tf.python.framework.function


def test_a_function_with_a_gradient_of_its_own() -> None:
    """Its operations are those of the graph; the gradient is what the program says."""

    def gradient(op: Any, dy: Any) -> Any:
        return dy * op.inputs[1] * 10.0, None

    own = function.Defun(tf.float32, tf.float32, python_grad_func=gradient, noinline=True)
    product = own(lambda x, y: x * y)
    square = function.Defun(tf.float32)(lambda x: x * x)

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        z = product(x, 2.0)
        values = session.run([z, tf.gradients(z, x)[0], tf.gradients(square(x), x)[0]])
        with pytest.raises(ValueError, match="Expected number of arguments: 1"):
            square(x, x)

    assert values == [6.0, 20.0, 6.0]

"""Compilers and memory that programs ask for: results are as without them."""

from __future__ import annotations

from typing import Any

import byparts_frontend_tf as tf


def test_what_is_asked_of_compilers_changes_no_result() -> None:
    """Scopes, decorators with and without arguments; gradients pass."""

    @tf.contrib.layers.recompute_grad(use_data_dep=True)
    def cube(x: Any) -> Any:
        return x**3

    @tf.recompute_grad
    @tf.autograph.experimental.do_not_convert
    def negative(x: Any) -> Any:
        return -x

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(2.0)
        with tf.contrib.compiler.jit.experimental_jit_scope():
            y = negative(cube(x))

        assert session.run([y, tf.gradients(y, x)[0]]) == [-8, -12]

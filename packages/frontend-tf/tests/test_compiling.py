"""Compilers and memory that programs ask for: results are as without them."""

from __future__ import annotations

import byparts_frontend_tf as tf


def test_what_is_asked_of_compilers_changes_no_result() -> None:
    """Scopes, decorators with and without arguments; gradients pass."""
    cube = tf.contrib.layers.recompute_grad(use_data_dep=True)(lambda x: x**3)
    plain = tf.autograph.experimental.do_not_convert(lambda x: -x)
    negative = tf.recompute_grad(plain)

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(2.0)
        with tf.contrib.compiler.jit.experimental_jit_scope():
            y = negative(cube(x))

        assert session.run([y, tf.gradients(y, x)[0]]) == [-8, -12]


def test_optimizers_are_found_by_their_names() -> None:
    """As `contrib.layers.optimize_loss` finds them; a momentum is given."""
    made = tf.contrib.layers.OPTIMIZER_CLS_NAMES["Momentum"](0.1)

    assert isinstance(made, tf.train.MomentumOptimizer)
    assert "Ftrl" in tf.contrib.layers.OPTIMIZER_CLS_NAMES
    assert "loss" in tf.contrib.layers.OPTIMIZER_SUMMARIES

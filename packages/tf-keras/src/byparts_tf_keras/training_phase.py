"""Choices between training and use: by the learning phase, or by what a call says."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.api.cond import smart_cond
from byparts_frontend_tf.symbols import symbol
from byparts_tf_keras.state import learning_phase


def _function(x: Any) -> Any:
    return x if callable(x) else lambda: x


@symbol("keras.backend.in_train_phase")
def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` while training, else `alt`: tensors, or functions that give them."""
    told = learning_phase() if training is None else training
    return smart_cond(told, _function(x), _function(alt))


@symbol("keras.backend.in_test_phase")
def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`alt` while training, else `x`."""
    return in_train_phase(alt, x, training)


@symbol("keras.backend.switch")
def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """Choose between two expressions by a scalar; or element by element."""
    import byparts_frontend_tf as tf

    rank = tf.convert_to_tensor(condition).get_shape().ndims
    if rank == 0:
        yes, no = _function(then_expression), _function(else_expression)
        return tf.cond(tf.cast(condition, tf.bool), yes, no)
    yes, no = _function(then_expression)(), _function(else_expression)()
    more = tf.convert_to_tensor(yes).get_shape().ndims - rank
    for _ in range(more):
        condition = tf.expand_dims(condition, -1)
    if more:
        condition = tf.logical_and(tf.cast(condition, tf.bool), tf.ones_like(yes, tf.bool))
    return tf.where(tf.cast(condition, tf.bool), yes, no)

"""TensorFlow's names: found when used, and the nearest one named where there is none."""

import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf.names import table
from byparts_frontend_tf.written_names import collect


def test_the_table_is_what_the_modules_say() -> None:
    """Run `python integration/tf_symbols.py` when this fails."""
    assert collect("byparts_frontend_tf") == table()


def test_every_symbol_is_found() -> None:
    """Each place in the table has an object."""
    for name in table():
        found = tf
        for part in name.split("."):
            found = getattr(found, part)


def test_an_unknown_name_says_the_nearest() -> None:
    """A misspelt name, and one in another namespace."""
    with pytest.raises(AttributeError, match=r"tf.nn.rleu is not here; .*: tf.nn.relu"):
        _ = tf.nn.rleu
    with pytest.raises(AttributeError, match=r"tf.nn.matmul is not here; .*matmul"):
        _ = tf.nn.matmul


def test_other_names_of_namespaces_are_the_same_functions() -> None:
    """`compat.v1`, and modules of TensorFlow's own inside."""
    from byparts_frontend_tf import nn

    assert tf.compat.v1.nn.relu is nn.relu
    assert tf.python.ops.math_ops.reduce_sum is tf.reduce_sum

"""TensorFlow's names: found when used, and the nearest one named where there is none."""

from pathlib import Path

import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf import names, symbols
from byparts_frontend_tf.names import own, table
from byparts_frontend_tf.written_names import collect


def test_the_table_is_what_the_modules_say() -> None:
    """Run `python integration/tf_symbols.py` when this fails."""
    assert collect("byparts_frontend_tf") == own()


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


def test_a_name_of_a_part_that_is_not_installed_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so does an import of the namespace."""
    monkeypatch.setattr(names, "table", own)
    monkeypatch.setattr(names, "_spaces", names._own_spaces)

    with pytest.raises(
        AttributeError, match=r"tf.keras is in byparts-tf-keras, which is not .*: pip"
    ):
        symbols.resolve(tf, "", "keras")
    with pytest.raises(AttributeError, match=r"tf.FIFOQueue is in byparts-tf-input, which is not"):
        symbols.resolve(tf, "", "FIFOQueue")
    with pytest.raises(ModuleNotFoundError, match=r"tf.estimator.no is in byparts-tf-estimator, "):
        symbols.NamespaceFinder().find_spec("byparts_frontend_tf.estimator.no")


def test_modules_of_this_part_are_no_namespaces() -> None:
    """They are imported before any name is read: `NamespaceFinder` knows them."""
    inside = {path.name.partition(".")[0] for path in Path(str(tf.__file__)).parent.iterdir()}

    assert inside - {"__init__", "__pycache__", "py", "parts"} == symbols._OWN

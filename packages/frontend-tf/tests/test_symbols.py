"""TensorFlow's names: found when used, and the nearest one named where there is none."""

from pathlib import Path
from types import ModuleType

import pytest

import byparts_frontend_tf as tf
from byparts_frontend_tf import names, symbols
from byparts_frontend_tf.names import own, table
from byparts_frontend_tf.written_names import collect
from byparts_graph_ir.parts.hooks import Names


def test_the_table_is_what_the_modules_say() -> None:
    """Run `python tools/tf_symbols.py` when this fails."""
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


def test_who_asks_whether_a_name_is_here_waits_for_no_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The message is made when it is read."""
    read: list[str] = []

    def nearest(full: str) -> str:
        read.append(full)
        return "nearest"

    monkeypatch.setattr(symbols, "_missing", nearest)

    assert not hasattr(tf, "reduce_summ") and not hasattr(tf.nn, "rleu") and read == []
    with pytest.raises(AttributeError, match="nearest"):
        symbols.named("nn.rleu")
    assert read == ["nn.rleu"]


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


@pytest.mark.parametrize("part", ["tf-input", "tf-keras", "tf-estimator", "tf-contrib"])
def test_a_namespace_of_a_part_that_is_not_installed_says_which(
    monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    """The namespace alone, before any name in it: each that another part gives."""
    package = pytest.importorskip(f"byparts_{part.replace('-', '_')}")
    theirs = Names("tf", f"{package.__name__}:names.tsv").resolve()
    monkeypatch.setattr(names, "table", own)
    monkeypatch.setattr(names, "_spaces", names._own_spaces)

    for space in sorted(names._spaces_of(theirs) - names._own_spaces()):
        place = f"byparts_frontend_tf.{space}".rpartition(".")[0]
        with pytest.raises(AttributeError, match=rf"tf.{space} is in byparts-tf-.*: pip install"):
            symbols.resolve(ModuleType(place), space.rpartition(".")[0], space.rpartition(".")[2])


def test_other_names_of_a_namespace_say_the_part_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """`tf.compat.v1.keras`, and TensorFlow's own inside."""
    monkeypatch.setattr(names, "table", own)
    monkeypatch.setattr(names, "_spaces", names._own_spaces)

    for space in ("compat.v1.keras", "compat.v2.keras", "contrib.keras", "python.ops.rnn_cell"):
        with pytest.raises(AttributeError, match=rf"tf.{space} is in byparts-tf-keras, .*: pip"):
            symbols.resolve(ModuleType("tf"), space.rpartition(".")[0], space.rpartition(".")[2])


def test_modules_of_this_part_are_no_namespaces() -> None:
    """They are imported before any name is read: `NamespaceFinder` knows them."""
    inside = {path.name.partition(".")[0] for path in Path(str(tf.__file__)).parent.iterdir()}

    assert inside - {"__init__", "__pycache__", "py", "parts"} == symbols._OWN

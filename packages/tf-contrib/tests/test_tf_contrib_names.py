"""The names of TensorFlow that this part gives are in its table."""

from byparts_frontend_tf.written_names import collect, kinds
from byparts_graph_ir.parts.hooks import Names


def test_the_table_is_what_the_modules_say() -> None:
    """Run `python tools/tf_symbols.py` when this fails."""
    assert collect("byparts_tf_contrib") == Names("tf", "byparts_tf_contrib:names.tsv").resolve()


def test_the_kinds_of_operations_are_those_that_the_modules_make() -> None:
    """A graph in a file may name them."""
    assert (
        kinds("byparts_tf_contrib") == Names("tf-kinds", "byparts_tf_contrib:kinds.tsv").resolve()
    )

"""The names of TensorFlow that this part gives are in its table."""

from byparts_frontend_tf.written_names import collect
from byparts_graph_ir.parts.hooks import Names


def test_the_table_is_what_the_modules_say() -> None:
    """Run `python tools/tf_symbols.py` when this fails."""
    assert collect("byparts_tf_keras") == Names("tf", "byparts_tf_keras:names.tsv").resolve()

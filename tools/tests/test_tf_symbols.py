"""The pages of TensorFlow's symbols say what is here, and where."""

from tf_symbols import PAGE, WHERE, misplaced, page, where


def test_the_page_of_symbols_is_what_is_here() -> None:
    """Run `python tools/tf_symbols.py` when this fails."""
    assert PAGE.read_text(encoding="utf-8") == page()


def test_the_page_of_files_is_what_the_table_says() -> None:
    """Run `python tools/tf_symbols.py` when this fails."""
    assert WHERE.read_text(encoding="utf-8") == where()


def test_a_name_of_a_namespace_is_in_its_folder() -> None:
    """Who looks for `tf.nn.conv2d` looks in `api/nn/`."""
    assert not misplaced()

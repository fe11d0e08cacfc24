"""The page of TensorFlow's symbols says what is here."""

from tf_symbols import PAGE, page


def test_the_page_of_symbols_is_what_is_here() -> None:
    """Run `python integration/tf_symbols.py` when this fails."""
    assert PAGE.read_text(encoding="utf-8") == page()

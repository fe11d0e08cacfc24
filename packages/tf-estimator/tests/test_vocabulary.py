"""Words as numbers."""

from pathlib import Path

import pytest

import byparts_frontend_tf as tf

TEXTS = ["the cat and the dog", "a dog's day", "the day"]


def test_words_are_numbered_as_they_come() -> None:
    """Rows are cut or filled with 0; words that were not learned are 0."""
    words = tf.contrib.learn.preprocessing.VocabularyProcessor(4)
    rows = [row.tolist() for row in words.fit_transform(TEXTS)]

    assert rows == [[1, 2, 3, 1], [5, 6, 7, 0], [1, 7, 0, 0]]
    assert [row.tolist() for row in words.transform(["dog bites cat"])] == [[4, 0, 2, 0]]
    assert list(words.reverse([[1, 7, 0]])) == ["the day <UNK>"]
    assert words.vocabulary_._mapping["day"] == 7 and len(words.vocabulary_) == 8


def test_rare_words_are_not_learned() -> None:
    """What comes once is 0 with `min_frequency=1`; the most frequent word is 1."""
    words = tf.contrib.learn.preprocessing.VocabularyProcessor(5, min_frequency=1)

    assert [row.tolist() for row in words.fit_transform(TEXTS)][2] == [1, 2, 0, 0, 0]


def test_it_is_saved_and_restored(tmp_path: Path) -> None:
    """As JSON; a pickle of TensorFlow's is refused."""
    words = tf.contrib.learn.preprocessing.VocabularyProcessor(3).fit(TEXTS)
    words.save(str(tmp_path / "words"))
    (tmp_path / "pickle").write_bytes(b"\x80\x04")
    again = tf.contrib.learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "words"))

    assert [r.tolist() for r in again.transform(TEXTS)] == [
        r.tolist() for r in words.transform(TEXTS)
    ]
    with pytest.raises(ValueError, match="is a pickle"):
        tf.contrib.learn.preprocessing.VocabularyProcessor.restore(str(tmp_path / "pickle"))

"""`Vocabulary`: words and their ids."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

UNKNOWN = "<UNK>"


def create_vocabulary(inputs: Sequence[Any], key_words: Sequence[str] = ()) -> Vocabulary:
    """The vocabulary of a list of words, or of sentences, which are lists of words."""
    vocabulary = Vocabulary()
    vocabulary.set_key_words(key_words)
    for each in inputs:
        vocabulary.update_words([each] if isinstance(each, str) else each)
    vocabulary.sort()
    return vocabulary


class Vocabulary:
    """Words by id as they come, and after `sort` the most frequent first.

    Args:
        max_vocab_size: how many words `sort` keeps; all by default.
    """

    def __init__(self, max_vocab_size: int | None = None) -> None:
        self.max_vocab_size = max_vocab_size
        self.words: list[str] = []
        self.word_id: dict[str, int] = {}
        self.word_freq: defaultdict[str, float] = defaultdict(float)
        self.stop_words: Sequence[str] = ()  # `sort` leaves them out
        self.key_words: Sequence[str] = ()  # `sort` puts them first, whether they were met or not

    @property
    def vocab_size(self) -> int:
        return len(self.words)

    @property
    def word_freq_sum(self) -> float:
        return sum(self.word_freq.values())

    def __repr__(self) -> str:
        return f"<Vocabulary: {len(self.words)} words>"

    def set_stop_words(self, word_lst: Sequence[str]) -> None:
        self.stop_words = word_lst

    def set_key_words(self, word_lst: Sequence[str]) -> None:
        self.key_words = word_lst

    def update_word(self, word: str) -> None:
        """Count a word, and give it an id if it is new."""
        self.word_freq[word] += 1.0
        self._append(word)

    def update_words(self, words: Iterable[str]) -> None:
        for word in words:
            self.update_word(word)

    def has_word(self, word: str) -> bool:
        return word in self.word_id

    def get_id(self, word: str) -> int:
        """The id of a word, or that of `<UNK>`, or -1."""
        return self.word_id.get(word, self.word_id.get(UNKNOWN, -1))

    def get_ids(self, words: Iterable[str]) -> list[int]:
        """The ids of words; a word without one is left out."""
        return [i for i in map(self.get_id, words) if i >= 0]

    def get_word(self, word_id: int) -> str:
        """The word of an id, or `<UNK>`."""
        return self.words[word_id] if 0 <= word_id < len(self.words) else UNKNOWN

    def get_words(self, ids: Iterable[int]) -> list[str]:
        return [self.get_word(i) for i in ids]

    def convert(self, x: Any) -> Any:
        """Ids of words, or words of ids: one, a list, or lists in a list."""
        if isinstance(x, str):
            return self.get_id(x)
        if isinstance(x, (int, np.integer)):
            return self.get_word(int(x))
        if len(x) and isinstance(x[0], str):
            return self.get_ids(x)
        return [self.convert(each) for each in x]

    def sort(self) -> None:
        """Give ids anew: key words first, then by frequency, without stop words."""
        ranked = sorted(self.word_freq, key=lambda word: -self.word_freq[word])
        kept = [word for word in ranked if word not in {*self.stop_words, *self.key_words}]
        if self.max_vocab_size is not None:
            kept = kept[: max(0, self.max_vocab_size - len(self.key_words))]
        self.words, self.word_id = [], {}
        for word in [*self.key_words, *kept]:
            self._append(word)

    def _append(self, word: str) -> None:
        if word not in self.word_id:
            self.word_id[word] = len(self.words)
            self.words.append(word)

"""`tf.contrib.learn.preprocessing`: words as numbers.  Saved as JSON, where TensorFlow pickled."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.atomic import replace_file
from byparts_tf_files.damage import refusing

_WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(texts: Iterable[str]) -> Iterator[list[str]]:
    """The words of each text."""
    for text in texts:
        yield _WORD.findall(text)


@symbol("contrib.learn.preprocessing.CategoricalVocabulary")
class CategoricalVocabulary:
    """Categories by number, in the order in which they came; 0 is what is not known."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._mapping: dict[str, int] = {unknown_token: 0}
        self._reverse_mapping: list[str] = [unknown_token]
        self._freq: dict[str, int] = {}
        self._freeze = False

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """Whether no more categories are taken."""
        self._freeze = freeze

    def get(self, category: str) -> int:
        """The number of a category; a new one where it is not frozen, else 0."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._mapping[category] = len(self._mapping)
            self._reverse_mapping.append(category)
        return self._mapping[category]

    def add(self, category: str, count: int = 1) -> None:
        """Count a category."""
        if self.get(category) > 0:
            self._freq[category] = self._freq.get(category, 0) + count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keep what came more than `min_frequency` times, the most frequent first."""
        order = sorted(sorted(self._freq.items()), key=lambda item: item[1], reverse=True)
        kept = [
            (category, count)
            for category, count in order
            if count > min_frequency and not 0 < max_frequency <= count
        ]
        self._freq = dict(kept)
        self._reverse_mapping = [self._unknown_token, *self._freq]
        self._mapping = {category: i for i, category in enumerate(self._reverse_mapping)}

    def reverse(self, class_id: int) -> str:
        """The category of a number.

        Raises:
            ValueError: it was made without this.
        """
        if not self._support_reverse:
            raise ValueError("This vocabulary wasn't initialized with support_reverse")
        return self._reverse_mapping[class_id]


@symbol("contrib.learn.preprocessing.VocabularyProcessor")
class VocabularyProcessor:
    """Texts as rows of numbers of words, cut or filled with 0 to one length.

    Args:
        max_document_length: numbers in a row.
        min_frequency: words that come no more often are 0.
        vocabulary: what numbers the words.
        tokenizer_fn: gives the words of each of many texts.
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: Optional[CategoricalVocabulary] = None,
        tokenizer_fn: Optional[Callable[..., Any]] = None,
    ) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Iterable[str], unused_y: Any = None) -> VocabularyProcessor:
        """Learn the words."""
        for words in self._tokenizer(raw_documents):
            for word in words:
                self.vocabulary_.add(word)
        if self.min_frequency > 0:
            self.vocabulary_.trim(self.min_frequency)
        self.vocabulary_.freeze()
        return self

    def fit_transform(self, raw_documents: Iterable[str], unused_y: Any = None) -> Iterator[Any]:
        """Learn the words, and give the rows."""
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Iterable[str]) -> Iterator[Any]:
        """The row of each text, i64 [max_document_length]."""
        for words in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            numbers = [self.vocabulary_.get(w) for w in words[: self.max_document_length]]
            row[: len(numbers)] = numbers
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """The words of rows, with spaces between them."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        """Write it."""
        v = self.vocabulary_
        content = {
            "max_document_length": self.max_document_length,
            "min_frequency": self.min_frequency,
            "words": v._reverse_mapping,
            "counts": v._freq,
        }
        replace_file(os.fspath(filename), json.dumps(content, ensure_ascii=False).encode())

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        """Read what `save` wrote.

        Raises:
            ValueError: TensorFlow wrote it, as a program of Python's, which is not run; it is
                damaged.
        """
        with open(filename, "rb") as file:
            content = file.read()
        if not content.startswith(b"{"):
            raise ValueError(f"{filename} is a pickle, which is a program: it is not read")
        with refusing(filename):
            record = json.loads(content)
            words = CategoricalVocabulary(record["words"][0])
            words._reverse_mapping, words._freq = record["words"], record["counts"]
            words._mapping = {word: i for i, word in enumerate(record["words"])}
            words.freeze()
            return cls(record["max_document_length"], record["min_frequency"], words)


@symbol("contrib.learn.preprocessing.ByteProcessor")
class ByteProcessor:
    """Texts as rows of their bytes, cut or filled with 0 to one length."""

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> ByteProcessor:
        """Nothing is learnt."""
        return self

    def fit_transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """The rows."""
        return self.transform(x)

    def transform(self, x: Iterable[Any]) -> Iterator[Any]:
        """The row of each text, u8 [max_document_length]."""
        for text in x:
            data = text if isinstance(text, bytes) else str(text).encode()
            row = np.zeros(self.max_document_length, np.uint8)
            some = np.frombuffer(data[: self.max_document_length], np.uint8)
            row[: len(some)] = some
            yield row

    def reverse(self, x: Iterable[Any]) -> Iterator[str]:
        """The texts of rows."""
        for row in x:
            yield bytes(np.asarray(row, np.uint8)).rstrip(b"\0").decode(errors="replace")

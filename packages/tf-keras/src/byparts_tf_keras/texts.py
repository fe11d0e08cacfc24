"""`tf.keras.preprocessing.text`: words, and their numbers."""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from hashlib import md5
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


@symbol("keras.preprocessing.text.text_to_word_sequence")
def text_to_word_sequence(
    text: str, filters: str = FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """The words of a text."""
    text = text.lower() if lower else text
    for character in filters:
        text = text.replace(character, split)
    return [word for word in text.split(split) if word]


@symbol("keras.preprocessing.text.hashing_trick")
def hashing_trick(
    text: str,
    n: int,
    hash_function: Any = None,
    filters: str = FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """A number of [1, n) for each word."""
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":

        def hash_function(word: str) -> int:
            return int(md5(word.encode()).hexdigest(), 16)

    words = text_to_word_sequence(text, filters, lower, split)
    return [int(hash_function(w) % (n - 1) + 1) for w in words]


@symbol("keras.preprocessing.text.one_hot")
def one_hot(
    text: str, n: int, filters: str = FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """A number of [1, n) for each word."""
    return hashing_trick(text, n, hash, filters, lower, split)


@symbol("keras.preprocessing.text.Tokenizer")
class Tokenizer:
    """Numbers words by how common they are; 0 is none.

    Args:
        num_words: only words with smaller numbers are kept.
        filters: characters that divide words.
        lower: whether words are in small letters.
        split: what divides words.
        char_level: whether each character is a word.
        oov_token: is in the place of words that are not known.
    """

    def __init__(
        self,
        num_words: Optional[int] = None,
        filters: str = FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: Any = None,
        document_count: int = 0,
        **kwargs: Any,
    ) -> None:
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token = char_level, oov_token
        self.document_count = document_count
        self.word_counts: OrderedDict[str, int] = OrderedDict()
        self.word_docs: Counter[str] = Counter()
        self.index_docs: dict[int, int] = {}
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> Any:
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text
            return [w.lower() for w in text] if isinstance(text, list) else text.lower()
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts: Any) -> None:
        """Count the words of texts, and number them."""
        for text in texts:
            self.document_count += 1
            words = list(self._words(text))
            for w in words:
                self.word_counts[w] = self.word_counts.get(w, 0) + 1
            self.word_docs.update(set(words))
        ordered = sorted(self.word_counts.items(), key=lambda pair: pair[1], reverse=True)
        names = [] if self.oov_token is None else [self.oov_token]
        names += [w for w, _ in ordered if w != self.oov_token]
        self.word_index = {w: i + 1 for i, w in enumerate(names)}
        self.index_word = {i: w for w, i in self.word_index.items()}
        self.index_docs = {self.word_index[w]: n for w, n in self.word_docs.items()}

    def fit_on_sequences(self, sequences: Any) -> None:
        """Count numbers."""
        counts: Counter[int] = Counter()
        for row in sequences:
            self.document_count += 1
            counts.update(set(row))
        self.index_docs = {**self.index_docs, **counts}

    def texts_to_sequences(self, texts: Any) -> list[list[int]]:
        """The numbers of the words of each text."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        rows = []
        for text in texts:
            row = []
            for w in self._words(text):
                i = self.word_index.get(w)
                if i is not None and not (self.num_words and i >= self.num_words):
                    row.append(i)
                elif unknown is not None:
                    row.append(unknown)
            rows.append(row)
        return rows

    def texts_to_sequences_generator(self, texts: Any) -> Any:
        """The numbers of the words of each text, one after the other."""
        for text in texts:
            yield self.texts_to_sequences([text])[0]

    def sequences_to_texts(self, sequences: Any) -> list[str]:
        """The words of each row of numbers."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        sentences = []
        for row in sequences:
            words = []
            for i in row:
                word = self.index_word.get(int(i))
                if word is not None and not (self.num_words and i >= self.num_words):
                    words.append(word)
                elif unknown is not None:
                    words.append(self.index_word[unknown])
            sentences.append(" ".join(words))
        return sentences

    def texts_to_matrix(self, texts: Any, mode: str = "binary") -> Any:
        """A row for each text, a column for each word."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> Any:
        """A row for each row of numbers: binary, count, freq or tfidf.

        Raises:
            ValueError: another mode; nothing was counted.
        """
        if not self.num_words and not self.word_index:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError("Unknown vectorization mode:", mode)
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        matrix = np.zeros((len(sequences), self.num_words or len(self.word_index) + 1))
        for i, row in enumerate(sequences):
            for j, c in Counter(row).items():
                if j >= matrix.shape[1]:
                    continue
                if mode == "tfidf":
                    rare = np.log(1 + self.document_count / (1 + self.index_docs.get(j, 0)))
                    matrix[i, j] = (1 + np.log(c)) * rare
                else:
                    matrix[i, j] = {"binary": 1, "count": c, "freq": c / len(row)}[mode]
        return matrix

    def get_config(self) -> dict[str, Any]:
        """Arguments and counts that make an equal tokenizer."""
        return {
            **{"num_words": self.num_words, "filters": self.filters, "lower": self.lower},
            **{"split": self.split, "char_level": self.char_level, "oov_token": self.oov_token},
            "document_count": self.document_count,
            **{
                k: json.dumps(getattr(self, k))
                for k in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
            },
        }

    def to_json(self, **kwargs: Any) -> str:
        """Class and configuration, as JSON."""
        record = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(record, **kwargs)


@symbol("keras.preprocessing.text.tokenizer_from_json")
def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer of `to_json`."""
    config = json.loads(json_string)["config"]
    counted = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    held = {k: json.loads(config.pop(k)) for k in counted}
    tokenizer = Tokenizer(**config)
    tokenizer.word_counts = OrderedDict(held["word_counts"])
    tokenizer.word_docs = Counter(held["word_docs"])
    tokenizer.word_index = held["word_index"]
    tokenizer.index_docs = {int(k): v for k, v in held["index_docs"].items()}
    tokenizer.index_word = {int(k): v for k, v in held["index_word"].items()}
    return tokenizer

"""Sentences of the Penn Treebank, or of a text that comes with this part."""

from __future__ import annotations

from pathlib import Path

from byparts_frontend_pytensor.utils.vocabulary import *  # noqa: F403
from byparts_frontend_pytensor.utils.vocabulary import Vocabulary, create_vocabulary
from byparts_nn.data import sonnets

# Where pytensor looked, and where a program started at the root of its folder finds the same.
PLACES = ("../../data/corpus/ptb.train.txt", "data/corpus/ptb.train.txt", "corpus/ptb.train.txt")


def load_ptb(path: str | Path | None = None) -> tuple[list[list[int]], Vocabulary]:
    """Sentences as lists of ids, and their vocabulary.

    Without a file of the Penn Treebank, which is not free, they are lines of four sonnets, and a
    sentence says so.

    Args:
        path: a text with a sentence on each line; one of `PLACES` by default.
    """
    found = path or next((place for place in PLACES if Path(place).is_file()), None)
    if found is None:
        print(
            f"load_ptb: there is no {' or '.join(PLACES)}: these are four sonnets of Shakespeare; "
            "load_ptb(path) reads your own text"
        )
    text = sonnets().lower() if found is None else Path(found).read_text(encoding="utf-8")
    sentences = [line.split() for line in text.splitlines() if line.strip()]
    vocabulary = create_vocabulary(sentences)
    return [vocabulary.get_ids(sentence) for sentence in sentences], vocabulary

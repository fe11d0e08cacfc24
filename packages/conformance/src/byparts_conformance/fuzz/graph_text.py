"""`parse`: graphs as text."""

from __future__ import annotations

from functools import partial
from random import Random

from byparts_conformance.fuzz import graphs
from byparts_conformance.fuzz.mutations import NUMBERS, TEXTS, changed_bytes, changed_words
from byparts_conformance.fuzz.reader import Data, Reader
from byparts_graph_ir import parse

_WORDS = (
    *(
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "=",
        "%",
        "#",
        "?",
        "...",
        "return",
        "\n",
        "\r",
        "\0",
    ),
    *("None", "True", "inf", "nan", "-inf", "1e999", "1e-400", "0." + "1" * 400, "9" * 5000),
    *(
        "b''",
        "''",
        "'a'",
        "b'\\xff'",
        "'\\ud800'",
        "'\\x0('",
        '"\\N{DIGIT ONE}"',
        "\ufeff",
        "\ud800",
    ),
    *("f32[2]", "f32[...]", "(1,)", "((()))", "(" * 200, "%0", "%x", "() {return}"),
    *("keepdims", "axes", "tanh", "fused", *TEXTS),
)


def reader() -> Reader:
    """With every word of the grammar in every place."""
    seeds = [str(graph) for graph in graphs.seeds()]
    read = partial(parse, ops=graphs.all_ops())
    return Reader("text", seeds, _mutate, read, graphs.check)


def _mutate(random: Random, text: str) -> Data:
    kind = random.randrange(8)
    if kind == 0:
        return changed_bytes(random, text.encode()).decode("utf-8", "surrogateescape")
    if kind == 1:  # two lines exchanged
        lines = text.split("\n")
        i, j = random.randrange(len(lines)), random.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        return random.choice(("\n", "\r\n", "\r", " ")).join(lines)
    if kind == 2:
        return text.replace(str(random.randrange(10)), str(random.choice(NUMBERS)))
    return changed_words(random, text, _WORDS)

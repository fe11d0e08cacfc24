"""Random bits, against the published answers and against the definition in plain integers."""

import numpy as np
import pytest

from byparts_opset.philox import philox, stream

# Random123, tests/kat_vectors: counter, key, answer.
KNOWN = [
    ("0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_the_known_answers_of_random123(counter: str, key: str, answer: str) -> None:
    """The vectors that the authors publish for ten rounds."""
    k0, k1 = _words(key)

    assert philox(np.array([_words(counter)], np.uint32), (k0, k1)).tolist() == [_words(answer)]


def test_a_stream_is_blocks_in_turn() -> None:
    """Word i is word i mod 4 of block i div 4, from any counter on."""
    whole = stream(99, 7, 20)

    assert np.array_equal(stream(99, 7, 3), whole[:3])
    assert np.array_equal(stream(99, 9, 12), whole[8:])
    assert stream(99, 7, 0).size == 0


def test_keys_and_counters_are_64_bits() -> None:
    """Both halves count; -1 is 2^64 - 1, after which the counter is 0."""
    assert np.array_equal(stream(-1, -1, 8), stream(2**64 - 1, 2**64 - 1, 8))
    assert np.array_equal(stream(5, -1, 8)[4:], stream(5, 0, 4))
    assert not np.array_equal(stream(5, 0, 4), stream(5 + 2**32, 0, 4))
    assert not np.array_equal(stream(5, 0, 4), stream(5, 2**32, 4))


def _words(text: str) -> list[int]:
    return [int(word, 16) for word in text.split()]

"""What functions of strings compute, with any TensorFlow 1.

python string_values.py > data/string.json         records TensorFlow's own, where
`tensorflow.compat.v1` is installed
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

LENGTHS = (0, 1, 3, 4, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200)
ANY = [bytes((i * 7 + n * 3) % 256 for i in range(n)) for n in LENGTHS]
WORDS = [["one", "Two", " drei "], ["", "\u00e9t\u00e9", "a,b;c d"]]
PACKED = zlib.compress(b"abc" * 9)
NUMBERS = np.array([[1.5, -2.0], [1e10, 3.14159265]], np.float32)


def functions(tf: Any) -> dict[str, Callable[[], Any]]:
    """Name -> what to run."""
    strings = tf.strings
    return {
        "fast": lambda: tf.string_to_hash_bucket_fast(ANY, 1000003),
        "fast, many": lambda: tf.string_to_hash_bucket_fast(ANY, 2**62),
        "bucket": lambda: tf.string_to_hash_bucket(ANY, 1000003),
        "strong": lambda: tf.string_to_hash_bucket_strong(ANY, 1000003, key=[5, 2**33 + 7]),
        "split": lambda: tf.string_split(["hello world", "", " a  b c "]),
        "split by some": lambda: tf.string_split(["a,b;;c", ",x"], ",;", skip_empty=False),
        "split all": lambda: tf.string_split(["abc", "de"], delimiter=""),
        "strings.split": lambda: strings.split(["a b  c", "", " x "]),
        "strings.split by": lambda: strings.split(["a--b--c", "--"], sep="--", maxsplit=1),
        "to_number": lambda: tf.string_to_number(["1.5", "-2e3", " 7", "inf"]),
        "to_number int": lambda: tf.string_to_number(["12", "-7"], tf.int32),
        "join": lambda: tf.string_join([WORDS, "x", WORDS], separator="-"),
        "reduce_join": lambda: tf.reduce_join(WORDS, 0, separator="."),
        "reduce_join kept": lambda: tf.reduce_join(WORDS, [1], keep_dims=True),
        "reduce_join all": lambda: tf.reduce_join(WORDS, [0, 1]),
        "substr": lambda: tf.substr(["hello", "world"], [1, -3], [2, 9]),
        "substr utf8": lambda: strings.substr(["\u00e9t\u00e9"], 1, 2, unit="UTF8_CHAR"),
        "replace": lambda: tf.regex_replace(WORDS, "([a-z])([a-z])", r"\2<\1>\0"),
        "replace one": lambda: strings.regex_replace(WORDS, "[a-z]", "_", replace_global=False),
        "match": lambda: strings.regex_full_match(["abc", "ab"], "a.c"),
        "as_string": lambda: tf.as_string(NUMBERS),
        "as_string 3": lambda: tf.as_string(NUMBERS, precision=3, width=12, fill="0"),
        "as_string e": lambda: tf.as_string(NUMBERS, scientific=True),
        "as_string g": lambda: tf.as_string(NUMBERS, shortest=True),
        "as_string of integers": lambda: tf.as_string([1, -22], width=5),
        "as_string of bools": lambda: tf.as_string([True, False]),
        "encode": lambda: tf.encode_base64([b"\xff\xfe?", "ab"]),
        "encode, padded": lambda: tf.encode_base64(["a"], pad=True),
        "decode": lambda: tf.decode_base64(["__4_", "YWI", "YQ=="]),
        "strip": lambda: strings.strip(WORDS),
        "length": lambda: strings.length(WORDS),
        "length utf8": lambda: strings.length(WORDS, unit="UTF8_CHAR"),
        "lower": lambda: strings.lower(["ABC \u00c9"]),
        "upper": lambda: strings.upper(["abc \u00e9"], encoding="utf-8"),
        "format": lambda: strings.format("a {} b", tf.range(10)),
        "format of two": lambda: strings.format(
            "{}|{}", (tf.reshape(tf.range(6.0) / 4, [3, 2]), ["x", "y"]), summarize=1
        ),
        "format of one": lambda: strings.format("{} {}", ("x", 0.1)),
        "zeros at the end": lambda: strings.length([b"a\0", b"\0\0", "abc"]),
        "format of all": lambda: strings.format("{}", tf.ones([2, 2, 2], tf.bool), summarize=-1),
        "transcode": lambda: strings.unicode_transcode(["\u00e9"], "UTF-8", "UTF-16-BE"),
        "decompressed": lambda: tf.decode_compressed([PACKED], compression_type="ZLIB"),
    }


def value(tf: Any, name: str) -> Any:
    """What a function gives, as lists and text."""
    with tf.Graph().as_default(), tf.Session() as session:
        made = functions(tf)[name]()
        found = session.run(made)
    return [_plain(a) for a in found] if isinstance(found, tuple) else _plain(found)


def _plain(array: Any) -> Any:
    listed = np.asarray(array).tolist()
    return _text(listed)


def _text(value: Any) -> Any:
    if isinstance(value, list):
        return [_text(v) for v in value]
    return value.decode("latin1") if isinstance(value, bytes) else value


if __name__ == "__main__":
    import json

    import tensorflow.compat.v1 as tensorflow  # type: ignore[import-untyped,import-not-found,unused-ignore]

    tensorflow.disable_v2_behavior()
    made = {name: value(tensorflow, name) for name in functions(tensorflow)}
    print(json.dumps(made).replace(', "', ',\n"'))

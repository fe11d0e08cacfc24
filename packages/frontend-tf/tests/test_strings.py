"""Functions of strings against what TensorFlow gave."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from string_values import functions, value

import byparts_frontend_tf as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "string.json").read_text())


@pytest.mark.parametrize("name", functions(tf))
def test_a_function_gives_what_tensorflows_does(name: str) -> None:
    """Strings, numbers, sparse tensors."""
    assert value(tf, name) == RECORDED[name]


def test_what_strings_refuse() -> None:
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match="correctly convert string: one"):
            session.run(tf.string_to_number(["one"]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
            session.run(tf.substr(["ab"], 3, 1))
        with pytest.raises(tf.errors.InvalidArgumentError, match="base64"):
            session.run(tf.decode_base64(["+"]))
    with pytest.raises(TypeError, match="'input' has DataType int32"):
        tf.strings.lower([1])
    with pytest.raises(ValueError, match="2 placeholder"):
        tf.strings.format("{} {}", 1)


def test_the_only_text_is_itself(capsys: pytest.CaptureFixture[str]) -> None:
    """Of a tensor that is unstacked or split, and where it is printed on its way."""
    with tf.Graph().as_default(), tf.Session() as session:
        texts = tf.placeholder(tf.string, [1])
        parts = [*tf.unstack(texts), *tf.split(texts, 1), tf.Print(texts[0], [texts], "is ")]
        found = session.run(parts, {texts: ["ab"]})

    assert [found[0], found[1].tolist(), found[2]] == [b"ab", [b"ab"], b"ab"]
    assert capsys.readouterr().err == "is [ab]\n"

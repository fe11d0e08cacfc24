"""HParams: values by name, changed by text."""

import pytest

import byparts_frontend_tf as tf


def test_values_are_attributes_and_text_changes_them() -> None:
    """Numbers, booleans, lists and single elements of lists keep their types."""
    given = tf.contrib.training.HParams(rate=0.1, sizes=[1, 2], fast=False, name="a")

    given.parse("rate=1, sizes=[3,4,5],sizes[0] = 7,fast=true,name=b c")

    assert (given.rate, given.sizes, given.fast, given.name) == (1.0, [7, 4, 5], True, "b c")
    assert given.to_json(sort_keys=True).startswith('{"fast": true, "name": "b c", "rate": 1.0')
    assert "rate" in given and given.get("none", 3) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rates=1", "Unknown hyperparameter type for rates"),
        ("rate=x", "Could not parse hparam rate of float"),
        ("rate=[1]", "rate is not a list"),
        ("rate", "Malformed hyperparameter value: rate"),
    ],
)
def test_wrong_text_is_refused(text: str, message: str) -> None:
    """With the name and what was wrong."""
    with pytest.raises(ValueError, match=message):
        tf.contrib.training.HParams(rate=0.1).parse(text)


def test_a_value_of_another_type_is_refused() -> None:
    """A whole number may be a float, a word may not."""
    given = tf.contrib.training.HParams(rate=0.1)

    assert given.override_from_dict({"rate": 2}).rate == 2.0
    with pytest.raises(ValueError, match="Could not cast hparam rate of float from 'fast'"):
        given.set_hparam("rate", "fast")

"""Members of a family take its last arguments, by place and by name."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import pytest

from byparts_frontend_tf.api.family import family


@family
def scaled(compute: Callable[[], float], scale: float = 1.0, name: str = "") -> tuple[str, float]:
    """The name, and what the member gives, times `scale`."""
    return name, scale * compute()


@scaled
def ratio(a: float, b: float = 2.0) -> float:
    """a / b."""
    return a / b


@scaled
def named(a: float, *, name: str) -> float:
    """a, and 100 if there is a name."""
    return a + (100 if name else 0)


def test_a_member_is_called_with_the_last_arguments_of_its_family() -> None:
    """They come after its own, and have their defaults."""
    assert ratio(6.0) == ("", 3.0)
    assert ratio(6.0, 3.0, 10.0, "r") == ("r", 20.0)
    assert ratio(b=1.0, a=6.0, name="r") == ("r", 6.0)


def test_a_member_reads_a_last_argument_by_keyword() -> None:
    """The caller may give it by place."""
    assert named(1.0) == ("", 1.0) and named(1.0, 2.0, "n") == ("n", 202.0)


def test_the_signature_of_a_member_is_the_whole_one() -> None:
    """Its own arguments first; the result is that of the family; name and words are its own."""
    whole = "(a: 'float', b: 'float' = 2.0, scale: 'float' = 1.0, name: 'str' = '')"
    assert str(signature(ratio)) == f"{whole} -> 'tuple[str, float]'"
    assert list(signature(named).parameters) == ["a", "scale", "name"]
    assert (ratio.__name__, ratio.__doc__) == ("ratio", "a / b.")


@pytest.mark.parametrize(
    ("given", "named_", "says"),
    [
        ((), {}, r"ratio\(\) missing a required argument: 'a'"),
        ((1, 2, 3, 4, 5), {}, r"ratio\(\) too many positional arguments"),
        ((1,), {"c": 1}, r"ratio\(\) got an unexpected keyword argument 'c'"),
        ((1,), {"a": 1}, r"ratio\(\) multiple values for argument 'a'"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_the_name_of_the_member(
    given: tuple[Any, ...], named_: dict[str, Any], says: str
) -> None:
    """As Python refuses them."""
    with pytest.raises(TypeError, match=says):
        ratio(*given, **named_)

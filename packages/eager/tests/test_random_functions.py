"""Random functions with state, random numbers and control flow: eager = compiled."""

from __future__ import annotations

import pytest
from random_functions import State, try_function, try_gradient

import byparts_eager as bp


@pytest.mark.parametrize("seed", range(0, 60, 20))
def test_random_functions_are_the_same_compiled(seed: int) -> None:
    """More by command: `python packages/eager/tests/random_functions.py 2000`."""
    for s in range(seed, seed + 20):
        try_function(s)


@pytest.mark.parametrize("seed", range(200, 210))
def test_gradients_of_random_functions_are_the_same_compiled(seed: int) -> None:
    try_gradient(seed)


def test_a_compiled_function_that_forgets_its_state_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(State, "numbers", lambda self: [id(self)])

    with pytest.raises(AttributeError, match="shape"):
        try_function(0)
    assert bp.training() is False

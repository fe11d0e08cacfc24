"""The functions of the array API standard on arrays whose device is PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
from random_expressions import difference
from standard_calls import FLOATS, FROM_DATA, OTHERS, operands

import byparts_eager as bp

pytest.importorskip("torch")
CALLS = {**FLOATS, **OTHERS, **FROM_DATA}
NEW = ("asarray", "ones", "zeros", "full", "eye", "arange", "linspace")


class OnTorch:
    """The namespace, with new arrays on the device."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(bp, name)
        if name not in NEW:
            return function
        return lambda *args, **keywords: function(*args, **keywords, device="torch")


def test_functions_give_what_they_give_on_numpy() -> None:
    """Each result stays on the device."""
    here = [bp.asarray(x) for x in operands()]
    there = [x.to_device("torch") for x in here]
    results = {name: f(OnTorch(), *there) for name, f in CALLS.items()}

    assert {y.device for y in results.values()} == {"torch"}
    wrong = {
        name: difference(bp.asarray(y.numpy()), CALLS[name](bp, *here).numpy(), 8)
        for name, y in results.items()
    }
    assert {name: text for name, text in wrong.items() if text} == {}


def test_parts_and_their_gradients_stay_on_the_device() -> None:
    x = bp.asarray(operands()[0], device="torch")
    i = bp.asarray([2, -1], device="torch")

    def parts(x: Any) -> Any:
        return bp.sum(x[i]) + bp.sum(x[:, [0, 1]]) + bp.sum(x[1, i]) + bp.sum(x[x > 0])

    assert parts(x).device == bp.grad(parts)(x).device == "torch"
    assert float(parts(x)) == pytest.approx(float(parts_on_numpy(x, i)), rel=1e-5)


def parts_on_numpy(x: Any, i: Any) -> Any:
    """The sum of the parts, by NumPy."""
    a, j = x.numpy(), i.numpy()
    return a[j].sum() + a[:, [0, 1]].sum() + a[1, j].sum() + a[a > 0].sum()

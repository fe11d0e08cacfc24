"""What a run changes of the process is as before afterwards.  Needs torch."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

torch = pytest.importorskip("torch", reason="needs torch")
context = pytest.importorskip("byparts_kernels_torch.context", reason="needs torch")


def small() -> float:
    """A denormal, unless they are zero."""
    return float(torch.tensor(1e-39) * 0.5)


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    torch.set_flush_denormal(False)


def test_denormals_are_zero_within() -> None:
    with context.Context(None, False):
        assert small() == 0
    assert small() > 0


def test_denormals_stay_where_asked() -> None:
    with context.Context(None, True):
        assert small() > 0


def test_who_had_them_zero_keeps_them_so() -> None:
    torch.set_flush_denormal(True)
    with context.Context(None, False):
        pass

    assert small() == 0


def test_threads_are_those_asked_for_within() -> None:
    torch.set_num_threads(1)
    with context.Context(2, False):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 1


def test_nothing_is_recorded_for_autograd() -> None:
    x = torch.ones(2, requires_grad=True)
    with context.Context(None, False):
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad


def test_an_error_leaves_it_as_before() -> None:
    with pytest.raises(ZeroDivisionError), context.Context(2, False):
        raise ZeroDivisionError

    assert small() > 0
    assert not torch.is_inference_mode_enabled()

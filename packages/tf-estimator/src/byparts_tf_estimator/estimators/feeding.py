"""Calls input functions, for features and labels, and begins their data sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from byparts_tf_estimator.estimators.arguments import accepted
from byparts_tf_estimator.training.session_run_hook import SessionRunHook


class BeginDataset(SessionRunHook):
    """Initialises the iterator of a data set in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self._initializer: Any = None

    def begin(self) -> None:
        """Before the session is made."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Start the data set in a new session."""
        session.run(self._initializer)


def called(input_fn: Callable[..., Any], mode: str, params: Any, config: Any) -> Any:
    """Call an input function, with as many of mode, params and config as it takes."""
    return input_fn(**accepted(input_fn, mode=mode, params=params, config=config))


def elements(given: Any) -> tuple[Any, list[Any]]:
    """The next element of a data set, or what is given, and hooks."""
    if not hasattr(given, "make_initializable_iterator"):
        return given, []
    iterator = given.make_initializable_iterator()
    return iterator.get_next(), [BeginDataset(iterator)]


def features_and_labels(given: Any) -> tuple[Any, Any, list[Any]]:
    """Features, labels or `None`, and hooks.

    Raises:
        ValueError: it is a tuple of other than two.
    """
    found, hooks = elements(given)
    if isinstance(found, (list, tuple)):
        if len(found) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return found[0], found[1], hooks
    return found, None, hooks


def features_alone(given: Any) -> tuple[Any, list[Any]]:
    """Features, for predictions: labels are left out."""
    found, hooks = elements(given)
    return (found[0] if isinstance(found, (list, tuple)) else found), hooks

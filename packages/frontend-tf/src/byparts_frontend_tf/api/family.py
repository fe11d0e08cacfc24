"""Families of functions: the last arguments that all members take, and what is done with them.

    @family
    def metric(compute, updates_collections: Any = None, name: Optional[str] = None) -> Metric:
        return collected(compute(), updates_collections)     # `compute` calls the member

    @metric
    def accuracy(labels: Any, predictions: Any) -> Metric:   # called with two more arguments
        ...

A member that reads one of the last arguments takes it by keyword: `def mean(values, *, name)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

R = TypeVar("R")


def family(around: Callable[..., R]) -> Callable[[Callable[..., Any]], Callable[..., R]]:
    """Make a decorator that gives functions the arguments of `around` after the first.

    Args:
        around: takes a function that computes what the member gives for the caller's arguments, and
            the last arguments; gives what the caller gets.
    """
    whole = signature(around)
    last = list(whole.parameters.values())[1:]

    def member(function: Callable[..., Any]) -> Callable[..., R]:
        own = signature(function).parameters.values()
        first = [p for p in own if p.kind is not Parameter.KEYWORD_ONLY]
        read = [p.name for p in own if p.kind is Parameter.KEYWORD_ONLY]
        takes = whole.replace(parameters=[*first, *last])

        @wraps(function)
        def call(*arguments: Any, **named: Any) -> R:
            try:
                given = takes.bind(*arguments, **named)
            except TypeError as error:
                raise TypeError(f"{function.__name__}() {error}") from None
            given.apply_defaults()
            values = given.arguments
            compute = partial(
                function, *[values[p.name] for p in first], **{name: values[name] for name in read}
            )
            return around(compute, **{p.name: values[p.name] for p in last})

        vars(call)["__signature__"] = takes
        return call

    return member

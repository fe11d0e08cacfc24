"""Functions of elements: `map`, `filter`, `flat_map`, `interleave`, groups, `reduce`."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.nest import flatten
from byparts_frontend_tf.graph.operation import Tensor
from byparts_tf_files.dtypes import bool_, int32, int64, variant
from byparts_tf_files.shape import fits
from byparts_tf_input.datasets.elements import Row, Spec, compatible, either, types_of
from byparts_tf_input.datasets.function import Function
from byparts_tf_input.datasets.ordering import like
from byparts_tf_input.datasets.pipeline import (
    Context,
    EndOfSequence,
    Next,
    Pipeline,
    listed,
    number,
)

AUTOTUNE = -1


def mapped(source: Pipeline, map_func: Callable[..., Any]) -> Pipeline:
    """The results of a function of each element."""
    function = Function(map_func, source.element)

    def start(context: Context) -> Next:
        get, call = source.start(context), function.bound(context)
        return lambda: call(get())

    return Pipeline(function.element, start, (source,), functions=(function,))


def filtered(source: Pipeline, predicate: Callable[..., Any], stop: bool = False) -> Pipeline:
    """The elements for which a function holds.

    Args:
        source: the elements.
        predicate: gives a scalar bool.
        stop: end with the first for which it does not.

    Raises:
        ValueError: the function gives something else.
    """
    function = Function(predicate, source.element, "filter")
    (spec,) = flatten(function.element)
    if spec.dtype is not bool_ or not fits(spec.dims, ()):
        raise ValueError("`predicate` must return a scalar boolean tensor.")

    def start(context: Context) -> Next:
        get, call = source.start(context), function.bound(context)

        def following() -> Row:
            while True:
                row = get()
                if call(row)[0]:
                    return row
                if stop:
                    raise EndOfSequence

        return following

    return like(source, start, functions=(function,))


def interleaved(
    source: Pipeline,
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any,
    what: str = "interleave",
) -> Pipeline:
    """The elements of the datasets that a function gives, in blocks of several at a time.

    Raises:
        TypeError: the function gives no dataset.
    """
    function = Function(map_func, source.element, what)
    (spec,) = flatten(function.element) if not isinstance(function.element, dict) else (None,)
    if spec is None or spec.dtype is not variant:
        raise TypeError("`map_func` must return a `Dataset` object.")
    if isinstance(cycle_length, int) and cycle_length == AUTOTUNE:
        cycle_length = os.cpu_count() or 1
    many, block = number(cycle_length, "cycle_length"), number(block_length, "block_length")

    def start(context: Context) -> Next:
        call, get = function.bound(context), source.start(context)
        return _interleaved(get, call, context.number(many), context.number(block))

    return Pipeline(spec.inner, start, (source,), (many, block), (function,))


def _interleaved(get: Next, call: Callable[[Row], Row], many: int, block: int) -> Next:
    opened: list[Optional[Next]] = [None] * many
    at = taken = 0
    more = True

    def following() -> Row:
        nonlocal at, taken, more
        while more or any(opened):
            current = opened[at]
            if current is not None:
                try:
                    row = current()
                except EndOfSequence:
                    opened[at], taken, at = None, 0, (at + 1) % many
                    continue
                taken += 1
                if taken == block:
                    taken, at = 0, (at + 1) % many
                return row
            if more:
                try:
                    opened[at] = call(get())[0]()
                except EndOfSequence:
                    more = False
            else:
                taken, at = 0, (at + 1) % many
        raise EndOfSequence

    return following


def grouped(
    source: Pipeline,
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size_func: Callable[..., Any],
    wrap: Callable[[Pipeline], Any],
) -> Pipeline:
    """The elements of the datasets that a function makes of windows of elements with equal keys.

    Args:
        source: the elements.
        key_func: gives the int64 key of an element.
        reduce_func: takes a key and the dataset of a window, gives a dataset.
        window_size_func: gives the size of the windows of a key.
        wrap: makes a dataset of a pipeline.

    Raises:
        ValueError: a function gives something else.
    """
    key = Function(key_func, source.element, "group_by_window")
    size = Function(window_size_func, Spec(int64, ()), "group_by_window")
    window = Spec(variant, (), type(wrap(source)), source.element)
    reduce_ = Function(reduce_func, (Spec(int64, ()), window), "group_by_window")
    for function, name in ((key, "key_func"), (size, "window_size_func")):
        spec = function.element
        if not isinstance(spec, Spec) or spec.dtype not in (int64, int32) or spec.dims:
            raise ValueError(f"`{name}` must return a single tf.int64 scalar tensor.")
    if not isinstance(reduce_.element, Spec) or reduce_.element.dtype is not variant:
        raise TypeError("`reduce_func` must return a `Dataset` object.")

    def start(context: Context) -> Next:
        calls = [f.bound(context) for f in (key, size, reduce_)]
        return _grouped(source.start(context), *calls)

    return Pipeline(reduce_.element.inner, start, (source,), (), (key, size, reduce_))


def _grouped(get: Next, key_of: Any, size_of: Any, reduce_: Any) -> Next:
    groups: dict[int, list[Row]] = {}
    current: Optional[Next] = None
    more = True

    def begun(key: int) -> Next:
        window = partial(listed, groups.pop(key))
        made: Next = reduce_((np.array(key, np.int64), window))[0]()
        return made

    def following() -> Row:
        nonlocal current, more
        while True:
            if current is not None:
                try:
                    return current()
                except EndOfSequence:
                    current = None
            while more and current is None:
                try:
                    row = get()
                except EndOfSequence:
                    more = False
                    break
                key = int(key_of(row)[0])
                rows = groups.setdefault(key, [])
                rows.append(row)
                if len(rows) >= int(size_of((np.array(key, np.int64),))[0]):
                    current = begun(key)
            if current is None:
                if not groups:
                    raise EndOfSequence
                current = begun(min(groups))

    return following


def state_function(
    initial: Any, source: Pipeline, function: Callable[..., Any], pick: Callable[[Any], Any]
) -> Function:
    """A function of a state and an element whose state has the shapes that all rounds have.

    Args:
        initial: the specs of the first state.
        source: the elements.
        function: of a state and an element.
        pick: of what it gives, the state.

    Raises:
        TypeError: it gives a state of other dtypes.
    """
    for _ in range(8):
        made = Function(function, (initial, source.element), "reduce_func")
        state = pick(made.element)
        if types_of(state) != types_of(initial):
            raise TypeError(
                "The element types for the new state must match the initial state. Expected "
                f"{types_of(initial)}; got {types_of(state)}."
            )
        if compatible(initial, state) is None and either(initial, state) == initial:
            return made
        initial = either(initial, state)
    return made


def scanned(
    source: Pipeline, initial: Any, parts: list[Tensor], function: Callable[..., Any]
) -> Pipeline:
    """The results of a function of the last state and an element, without the new states."""
    scan = state_function(initial, source, function, lambda made: made[0])
    count = len(flatten(scan.element[0]))

    def start(context: Context) -> Next:
        get, call = source.start(context), scan.bound(context)
        state = tuple([context.value(t) for t in parts])

        def following() -> Row:
            nonlocal state
            made = call((*state, *get()))
            state = made[:count]
            return made[count:]

        return following

    return Pipeline(scan.element[1], start, (source,), tuple(parts), (scan,))

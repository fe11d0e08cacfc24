"""Order of elements: shuffled, repeated, some of them, of several datasets in turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce as fold
from random import Random
from typing import Any, Optional

from byparts_frontend_tf.graph.nest import map_structure
from byparts_tf_files.errors import InvalidArgumentError, OpError
from byparts_tf_input.datasets.elements import Row, either
from byparts_tf_input.datasets.pipeline import (
    Context,
    EndOfSequence,
    Next,
    Pipeline,
    listed,
    number,
    random_of,
)


def like(
    source: Pipeline, start: Callable[[Context], Next], *tensors: Any, **more: Any
) -> Pipeline:
    """A pipeline of the same elements as its source."""
    return Pipeline(source.element, start, (source,), tensors, **more)


def shuffled(source: Pipeline, buffer_size: Any, seed: Any, reshuffle: Optional[bool]) -> Pipeline:
    """Elements drawn from a buffer of those that come next; another order in each repetition."""
    size, (random, seeds) = number(buffer_size, "buffer_size"), random_of(seed)

    def start(context: Context) -> Next:
        most = context.number(size)
        if most <= 0:
            raise InvalidArgumentError(None, None, "buffer_size must be greater than zero.")
        draws: Random = context.kept(start, lambda: random(context))
        if reshuffle is False:
            first, draws = draws.getstate(), Random()
            draws.setstate(first)
        return _drawn(source.start(context), most, draws.random)

    return like(source, start, size, *seeds)


def _drawn(get: Next, most: int, draw: Callable[[], float]) -> Next:
    buffer: list[Row] = []
    more = True

    def following() -> Row:
        nonlocal more
        while more and len(buffer) < most:
            try:
                buffer.append(get())
            except EndOfSequence:
                more = False
        if not buffer:
            raise EndOfSequence
        i = int(draw() * len(buffer))
        buffer[i], buffer[-1] = buffer[-1], buffer[i]
        return buffer.pop()

    return following


def repeated(source: Pipeline, count: Any) -> Pipeline:
    """All elements `count` times; without end for `None` and -1."""
    times = number(-1 if count is None else count, "count")

    def start(context: Context) -> Next:
        left = context.number(times)
        get: Optional[Next] = None

        def following() -> Row:
            nonlocal get, left
            while left:
                if get is None:
                    get, begun = source.start(context), False
                else:
                    begun = True
                try:
                    return get()
                except EndOfSequence:
                    get, left = None, left - 1
                    if not begun:  # it is empty: not for ever
                        left = 0
            raise EndOfSequence

        return following

    return like(source, start, times)


def taken(source: Pipeline, count: Any) -> Pipeline:
    """The first `count` elements; all for -1."""
    most = number(count, "count")

    def start(context: Context) -> Next:
        get, left = source.start(context), context.number(most)

        def following() -> Row:
            nonlocal left
            if not left:
                raise EndOfSequence
            row = get()
            left -= 1
            return row

        return following

    return like(source, start, most)


def skipped(source: Pipeline, count: Any) -> Pipeline:
    """All but the first `count` elements; none for -1."""
    fewest = number(count, "count")

    def start(context: Context) -> Next:
        get, left = source.start(context), context.number(fewest)

        def following() -> Row:
            nonlocal left
            if left < 0:
                raise EndOfSequence
            while left:
                left -= 1
                get()
            return get()

        return following

    return like(source, start, fewest)


def sharded(source: Pipeline, num_shards: Any, index: Any) -> Pipeline:
    """Every `num_shards`-th element, from number `index` on.

    Raises:
        ValueError: there is no such shard.
    """
    _check_shard(num_shards, index)
    count, first = number(num_shards, "num_shards"), number(index, "index")

    def start(context: Context) -> Next:
        get, step, skip = source.start(context), context.number(count), context.number(first)
        _check_shard(step, skip)

        def following() -> Row:
            nonlocal skip
            for _ in range(skip):
                get()
            skip = step - 1
            return get()

        return following

    return like(source, start, count, first)


def _check_shard(num_shards: Any, index: Any) -> None:
    if isinstance(num_shards, int) and num_shards < 1:
        raise ValueError("num_shards must be >= 1")
    if isinstance(index, int) and isinstance(num_shards, int) and not 0 <= index < num_shards:
        raise ValueError("index must be in [0, num_shards)")


def cached(source: Pipeline) -> Pipeline:
    """The same elements; from the second time on those that were kept."""

    def start(context: Context) -> Next:
        kept: list[list[Row]] = context.kept(start, list)
        if kept:
            return listed(kept[0])
        get = source.start(context)
        rows: list[Row] = []

        def following() -> Row:
            try:
                row = get()
            except EndOfSequence:
                kept[:] = [rows]
                raise
            for leaf in row:
                if hasattr(leaf, "flags"):
                    leaf.flags.writeable = False  # so that a copy is given to the program
            rows.append(row)
            return row

        return following

    return like(source, start)


def concatenated(first: Pipeline, second: Pipeline) -> Pipeline:
    """The elements of one, then those of the other.

    Raises:
        TypeError: they are of other dtypes.
    """

    def start(context: Context) -> Next:
        get, then = first.start(context), [second]

        def following() -> Row:
            nonlocal get
            while True:
                try:
                    return get()
                except EndOfSequence:
                    if not then:
                        raise
                    get = then.pop().start(context)

        return following

    return Pipeline(either(first.element, second.element), start, (first, second))


def zipped(datasets: Any, sources: tuple[Pipeline, ...]) -> Pipeline:
    """Elements made of an element of each dataset, in the structure in which the datasets are."""

    def start(context: Context) -> Next:
        starts = [s.start(context) for s in sources]

        def following() -> Row:
            return tuple([leaf for get in starts for leaf in get()])

        return following

    element = map_structure(lambda d: d._pipeline.element, datasets)
    return Pipeline(element, start, sources)


def chosen(selector: Pipeline, sources: tuple[Pipeline, ...]) -> Pipeline:
    """The next element of the dataset whose number the selector gives; those at an end are left."""

    def start(context: Context) -> Next:
        select, starts = selector.start(context), [s.start(context) for s in sources]
        left = set(range(len(starts)))

        def following() -> Row:
            while left:
                i = int(select()[0])
                try:
                    if i in left:
                        return starts[i]()
                except EndOfSequence:
                    left.discard(i)
            raise EndOfSequence

        return following

    element = fold(either, [s.element for s in sources])
    return Pipeline(element, start, (selector, *sources))


def without_errors(source: Pipeline) -> Pipeline:
    """The elements that could be made."""

    def start(context: Context) -> Next:
        get = source.start(context)

        def following() -> Row:
            while True:
                try:
                    return get()
                except OpError:
                    continue

        return following

    return like(source, start)

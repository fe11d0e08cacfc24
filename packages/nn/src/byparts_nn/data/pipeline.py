"""`Data`: samples in batches, epoch after epoch, always in the same order for the same seed.

    data = Data((images, labels), seed=0).shuffle().augment(flip(), crop(1)).batch(32).prefetch(2)
    for images, labels in data:      # one epoch; the next `for` is the next epoch
        ...

A `Data` is a recipe: each method gives a new one.  The order of an epoch, and the random numbers of
its augmentation, follow from (seed, epoch, number of the sample), so the place in the data is two
numbers, `data.position`, and going on from there gives the same batches to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from byparts_graph_ir import ArgumentError, GraphError
from byparts_nn.data.order import Group, Member, generator, groups, shuffled_stream, slices
from byparts_nn.data.recipe import Augment, Columns, Recipe
from byparts_nn.data.samples import Array, Pads, Sample
from byparts_nn.data.sources import Items, Stream, source_of


class Position(NamedTuple):
    """A place in the data: the epoch, from 0 on, and how many of its batches are done."""

    epoch: int
    batch: int


@dataclass(frozen=True)
class _Options:
    """The recipe of a `Data`, the order of its samples, and who makes its batches."""

    recipe: Recipe
    window: int | None = None  # None: not shuffled
    size: int | None = None
    drop_last: bool = False
    length: Callable[[Sample], int] | None = None  # with one: buckets
    ahead: int = 0
    threads: int = 0
    processes: int = 0
    lengths: list[int] = field(default_factory=list, compare=False)  # of all samples, once known


class Data:
    """Samples in batches.

    Args:
        source: arrays, alone or in a tuple or a dictionary; a sequence of samples; a function that
            gives an iterator of samples; see `source_of`.
        seed: of the order and of augmentation.

    Raises:
        ArgumentError: the source is none of these, or the seed no whole number.
        ShapeError: arrays of different lengths.
    """

    def __init__(self, source: object, *, seed: int = 0) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ArgumentError(f"Data: seed={seed!r:.60}: give a whole number")
        found = source_of(source)
        stacks = not (isinstance(found, Stream) and found.batches)
        self._options = _Options(Recipe(found, seed, stacks=stacks))
        self.position = Position(0, 0)

    # ---- a recipe with one step more -------------------------------------------------------------

    def shuffle(self, window: int = 1000) -> Data:
        """Another order in each epoch.  A stream has it within a moving window of samples."""
        if window < 1:
            raise ArgumentError(f"shuffle: window={window}: give at least 1 sample")
        return self._with(window=window)

    def batch(self, size: int, drop_last: bool = False) -> Data:
        """Batches of `size` samples; the last one of an epoch is smaller, or left out."""
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ArgumentError(f"batch: size={size!r:.60}: give a whole number of samples, as 32")
        if self.is_batched:
            raise GraphError("the data is in batches already")
        return self._with(size=size, drop_last=drop_last)

    def bucket(
        self,
        size: int,
        *,
        pad: Pads = 0,
        width: int = 8,
        length: Callable[[Sample], int] | None = None,
        drop_last: bool = False,
    ) -> Data:
        """Batches of samples of similar length, padded behind along their first axis.

        Args:
            size: samples in a batch.
            pad: what is filled in: a number, or one for each element, `None` where nothing is.
            width: lengths are rounded up to a multiple of it, so that few sizes occur.
            length: of a sample of the source; the length of its first element if left out.
            drop_last: whether buckets that are not full at the end of an epoch are left out.
        """
        if width < 1:
            raise ArgumentError(f"bucket: width={width}: give at least 1")
        recipe = replace(self._options.recipe, pads=pad, width=width)
        return self.batch(size, drop_last)._with(recipe=recipe, length=length or _first_length)

    def map(self, function: Callable[..., Any]) -> Data:
        """`function(*sample)` in the place of each sample; behind `batch`, of each batch."""
        recipe = self._options.recipe
        if self.is_batched:
            return self._with(recipe=replace(recipe, batch_steps=(*recipe.batch_steps, function)))
        return self._with(recipe=replace(recipe, sample_steps=(*recipe.sample_steps, function)))

    def augment(self, *functions: Callable[..., Any], element: Any = 0) -> Data:
        """Each function, `f(array, random)`, on an element of each sample, in every epoch anew."""
        if self.is_batched:
            raise GraphError("augment changes samples; it stands in front of batch or bucket")
        return self.map(Augment(functions, element))

    def columns(self, *names: str) -> Data:
        """The elements of these names of each dictionary, as a tuple: `("image", "label")`."""
        return self.map(Columns(names))

    def prefetch(self, ahead: int = 2, *, threads: int = 1, processes: int = 0) -> Data:
        """Make batches in advance: `ahead` of them, in threads or in processes.

        The order stays; an error comes at its batch.  Processes are started anew (spawned), so
        functions must be importable there.  A stream is read by one thread at most.
        """
        if ahead < 1 or threads < 0 or processes < 0 or not threads + processes:
            asked = f"ahead={ahead}, threads={threads}, processes={processes}"
            raise ArgumentError(f"prefetch: {asked}: give at least one batch and one worker")
        return self._with(ahead=ahead, threads=threads, processes=processes)

    def split(self, share: float, seed: int = 0) -> tuple[Data, Data]:
        """Two parts of the samples: `share` of them, drawn with `seed`, are the second one."""
        recipe = self._options.recipe
        if isinstance(recipe.source, Stream):
            raise GraphError("split: a stream has no length; split the source, or collect it")
        count = len(recipe.source)
        order = generator(seed, 0).permutation(count)
        cut = round(count * share)
        rest, held = (
            self._with(
                recipe=replace(recipe, source=Items(recipe.source, np.sort(part))), lengths=[]
            )
            for part in (order[cut:], order[:cut])
        )
        return rest, held

    # ---- batches ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        """The batches from `position` to the end of the epoch; one that is given out is done."""
        for batch in self.epoch(*self.position):
            self.position = Position(self.position.epoch, self.position.batch + 1)
            yield batch
        self.position = Position(self.position.epoch + 1, 0)

    def epoch(self, number: int, skip: int = 0) -> Generator[Any, None, None]:
        """The batches of an epoch; the first `skip` are not made."""
        options, recipe = self._options, self._options.recipe
        plan = self._groups(number)
        for _ in range(skip):
            next(plan, None)
        calls = ((number, group) for group in plan)
        if not options.ahead:
            return (recipe(*call) for call in calls)
        from byparts_nn.data.prefetch import in_processes, in_threads  # loads multiprocessing

        if options.processes:
            return in_processes(recipe, calls, options.ahead, options.processes)
        threads = 1 if self.is_stream else options.threads
        return in_threads(recipe, calls, options.ahead, threads)

    @property
    def is_stream(self) -> bool:
        """Whether samples are read one after another."""
        return isinstance(self._options.recipe.source, Stream)

    @property
    def is_batched(self) -> bool:
        """Whether batches are asked for: by `batch`, by `bucket`, or a stream of batches."""
        return self._options.size is not None or not self._options.recipe.stacks

    @property
    def batches(self) -> int | None:
        """The number of batches of an epoch; `None` before they are made: a stream, or buckets."""
        options, size = self._options, self._options.size or 1
        if self.is_stream or options.length is not None:
            return None
        count = len(options.recipe.source)
        return count // size if options.drop_last else -(-count // size)

    def describe(self) -> dict[str, object]:
        """Facts that decide which batches come; a checkpoint of training keeps them."""
        options = self._options
        return {
            "samples": None if self.is_stream else len(options.recipe.source),
            "batch": options.size,
            "seed": options.recipe.seed,
            "shuffled": options.window is not None,
        }

    def _groups(self, epoch: int) -> Iterator[Group]:
        """The samples of each batch."""
        options, width = self._options, self._options.recipe.width
        if options.length is None and not self.is_stream:
            return slices(self._order(epoch), options.size or 1, options.drop_last)
        if options.length is None:
            keyed = ((m, 0) for m in self._members(epoch))
        else:
            length_of = self._length_of(options.length)
            keyed = ((m, -(-length_of(m) // width)) for m in self._members(epoch))
        return groups(keyed, options.size or 1, options.drop_last)

    def _order(self, epoch: int) -> Array:
        count = len(self._options.recipe.source)
        if self._options.window is None:
            return np.arange(count)
        return generator(self._options.recipe.seed, epoch).permutation(count)

    def _members(self, epoch: int) -> Iterator[Member]:
        source, window = self._options.recipe.source, self._options.window
        if not isinstance(source, Stream):
            return (Member(int(number)) for number in self._order(epoch))
        members = (Member(number, sample) for number, sample in enumerate(source))
        if window is None:
            return members
        return shuffled_stream(members, window, generator(self._options.recipe.seed, epoch))

    def _length_of(self, length: Callable[[Sample], int]) -> Callable[[Member], int]:
        source, known = self._options.recipe.source, self._options.lengths
        if isinstance(source, Stream):
            return lambda member: int(length(member.sample or ()))
        if not known:  # all are asked once, not in each epoch
            known += [int(length(source[i])) for i in range(len(source))]
        return lambda member: known[member.number]

    def _with(self, **changes: Any) -> Data:
        data = object.__new__(Data)
        data._options, data.position = replace(self._options, **changes), self.position
        return data


def _first_length(sample: Sample) -> int:
    return len(next(iter(sample.values())) if isinstance(sample, dict) else sample[0])

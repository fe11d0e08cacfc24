"""`Data`: samples in batches, epoch after epoch, always in the same order for the same seed.

    data = Data((images, labels), seed=0).shuffle().augment(flip(), crop(1)).batch(32).prefetch(2)
    for images, labels in data:      # one epoch; the next `for` is the next epoch
        ...

A `Data` is a recipe: each method gives a new one.  The order of an epoch, and the random numbers of
its augmentation, follow from (seed, epoch, index of the sample), so the place in the data is two
numbers, `data.position`, and going on from there gives the same batches to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from byparts_graph_ir import ArgumentError, GraphError
from byparts_nn.data.order import (
    Member,
    buckets,
    generator,
    groups,
    held_out,
    shuffled,
    shuffled_stream,
)
from byparts_nn.data.prefetch import in_processes, in_threads
from byparts_nn.data.samples import Batch, Pads, Sample, as_sample, collated
from byparts_nn.data.sources import Stream, Subset, source_of

Augmentation = Callable[..., Any]  # (array, generator) -> array


class Position(NamedTuple):
    """A place in the data: the epoch, from 0 on, and how many of its batches are done."""

    epoch: int
    batch: int


class Augment(NamedTuple):
    """A step of a recipe: functions (array, random numbers) -> array on one element of a sample."""

    functions: tuple[Augmentation, ...]
    element: Any


@dataclass(frozen=True)
class Recipe:
    """How a group of samples becomes a batch; sent to processes as it is."""

    source: Any
    seed: int
    sample_steps: tuple[Any, ...] = ()
    batch_steps: tuple[Any, ...] = ()
    pads: Pads = None
    width: int = 1
    stacks: bool = True  # False: a sample of the source is a batch

    def __call__(self, epoch: int, members: Sequence[Member]) -> Batch:
        """The batch of these samples, in epoch number `epoch`."""
        if self.stacks and not self.sample_steps and self.pads is None:
            taken = self._taken(members)
            if taken is not None:
                return self._finished(taken)
        samples = [self._sample(epoch, member) for member in members]
        batch = collated(samples, self.pads, self.width) if self.stacks else _arrays(samples[0])
        return self._finished(batch)

    def _finished(self, batch: Batch) -> Batch:
        mapped: Batch = _mapped(self.batch_steps, batch)
        return mapped

    def _taken(self, members: Sequence[Member]) -> Batch | None:
        if not hasattr(self.source, "take"):
            return None
        taken: Batch | None = self.source.take(np.array([member.number for member in members]))
        return taken

    def _sample(self, epoch: int, member: Member) -> Sample:
        sample = self.source[member.number] if member.sample is None else member.sample
        random = None
        for step in self.sample_steps:
            if isinstance(step, Augment):
                random = random or generator(self.seed, epoch, member.number)
                sample = _augmented(sample, step, random)
            else:
                sample = _mapped((step,), sample)
        return sample


@dataclass(frozen=True)
class _Options:
    """What a `Data` is made of, apart from its position."""

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
        ArgumentError: the source is none of these.
        ShapeError: arrays of different lengths.
    """

    def __init__(self, source: object, *, seed: int = 0) -> None:
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
        return self._grouped(size, drop_last)

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
        grouped = self._grouped(size, drop_last)
        return grouped._with(recipe=recipe, length=length or _first_length)

    def map(self, function: Callable[..., Any]) -> Data:
        """`function(*sample)` in the place of each sample; behind `batch`, of each batch."""
        return self._stepped(function)

    def augment(self, *functions: Augmentation, element: Any = 0) -> Data:
        """Each function, `f(array, random)`, on an element of each sample, in every epoch anew."""
        if self._options.size is not None:
            raise GraphError("augment changes samples; it stands in front of batch or bucket")
        return self._stepped(Augment(functions, element))

    def columns(self, *names: str) -> Data:
        """The elements of these names of each dictionary, as a tuple: `("image", "label")`."""
        return self._stepped(Columns(names))

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
        parts = held_out(len(recipe.source), share, seed)
        rest, held = (Subset(recipe.source, np.array(part, np.int64)) for part in parts)
        return (
            self._with(recipe=replace(recipe, source=rest), lengths=[]),
            self._with(recipe=replace(recipe, source=held), lengths=[]),
        )

    # ---- batches ---------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        """The batches from `position` to the end of the epoch; one that is given out is done."""
        for batch in self.epoch(*self.position):
            self.position = Position(self.position.epoch, self.position.batch + 1)
            yield batch
        self.position = Position(self.position.epoch + 1, 0)

    def epoch(self, number: int, skip: int = 0) -> Iterator[Any]:
        """The batches of an epoch; the first `skip` are not made."""
        options, recipe = self._options, self._options.recipe
        plan = self._groups(number)
        for _ in range(skip):
            next(plan, None)
        calls = ((number, tuple(group)) for group in plan)
        if not options.ahead:
            return (recipe(*call) for call in calls)
        if options.processes:
            return in_processes(recipe, calls, options.ahead, options.processes)
        return in_threads(recipe, calls, options.ahead, 1 if self.is_stream else options.threads)

    @property
    def is_stream(self) -> bool:
        """Whether samples are read one after another."""
        return isinstance(self._options.recipe.source, Stream)

    @property
    def is_batched(self) -> bool:
        """Whether batches are asked for: by `batch`, by `bucket`, or a stream of batches."""
        return self._options.size is not None or not self._options.recipe.stacks

    def __len__(self) -> int:
        """Batches of an epoch.

        Raises:
            TypeError: a stream has no length, or there are buckets.
        """
        options = self._options
        if self.is_stream or options.length is not None:
            raise TypeError("how many batches there are is known when they have been made")
        count, size = len(options.recipe.source), options.size or 1
        return count // size if options.drop_last else -(-count // size)

    def describe(self) -> dict[str, object]:
        """Facts that decide which batches come; a checkpoint of training keeps them."""
        options = self._options
        count = None if self.is_stream else len(options.recipe.source)
        return {
            "samples": count,
            "batch": options.size,
            "seed": options.recipe.seed,
            "shuffled": options.window is not None,
        }

    def _groups(self, epoch: int) -> Iterator[Sequence[Member]]:
        options = self._options
        members, size = self._members(epoch), options.size or 1
        if options.length is None:
            return groups(members, size, options.drop_last)
        length = options.length
        if self.is_stream:
            measured = ((m, int(length(m.sample or ()))) for m in members)
        else:
            known = self._lengths()
            measured = ((m, known[m.number]) for m in members)
        return buckets(measured, size, options.recipe.width, options.drop_last)

    def _members(self, epoch: int) -> Iterator[Member]:
        source, seed = self._options.recipe.source, self._options.recipe.seed
        window = self._options.window
        if isinstance(source, Stream):
            members = (Member(i, sample) for i, sample in enumerate(source))
            if window is None:
                return members
            return shuffled_stream(members, window, seed, epoch)
        if window is None:
            return (Member(i) for i in range(len(source)))
        return shuffled(len(source), seed, epoch)

    def _lengths(self) -> list[int]:
        options, known = self._options, self._options.lengths
        assert options.length is not None, "there are buckets"
        if not known:
            source = options.recipe.source
            known += [int(options.length(source[i])) for i in range(len(source))]
        return known

    def _grouped(self, size: int, drop_last: bool) -> Data:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ArgumentError(f"batch: size={size!r:.60}: give a whole number of samples, as 32")
        if self.is_batched:
            raise GraphError("the data is in batches already")
        return self._with(size=size, drop_last=drop_last)

    def _stepped(self, step: object) -> Data:
        recipe = self._options.recipe
        if self.is_batched:
            return self._with(recipe=replace(recipe, batch_steps=(*recipe.batch_steps, step)))
        return self._with(recipe=replace(recipe, sample_steps=(*recipe.sample_steps, step)))

    def _with(self, **changes: Any) -> Data:
        data = object.__new__(Data)
        data._options, data.position = replace(self._options, **changes), self.position
        return data


class Columns:
    """A step of a recipe: some elements of a dictionary, as a tuple."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __call__(self, row: dict[str, Any]) -> tuple[Any, ...]:
        missing = [name for name in self.names if name not in row]
        if missing:
            raise GraphError(f"columns: no {missing[0]!r} in a sample of {', '.join(row)}")
        return tuple([row[name] for name in self.names])


def _mapped(steps: Sequence[Any], sample: Any) -> Any:
    for step in steps:
        named = isinstance(sample, dict)
        sample = as_sample(step(sample) if named else step(*sample))
    return sample


def _augmented(sample: Sample, step: Augment, random: np.random.Generator) -> Sample:
    parts: Any = dict(sample) if isinstance(sample, dict) else list(sample)
    for function in step.functions:
        parts[step.element] = function(np.asarray(parts[step.element]), random)
    return parts if isinstance(sample, dict) else tuple(parts)


def _arrays(batch: Sample) -> Batch:
    if isinstance(batch, dict):
        return {key: np.asarray(value) for key, value in batch.items()}
    return tuple([np.asarray(value) for value in batch])


def _first_length(sample: Sample) -> int:
    return len(next(iter(sample.values())) if isinstance(sample, dict) else sample[0])

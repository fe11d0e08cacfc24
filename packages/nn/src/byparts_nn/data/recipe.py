"""`Recipe`: the way a group of samples becomes a batch; sent to worker processes as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from byparts_graph_ir import GraphError
from byparts_nn.data.order import Group, generator
from byparts_nn.data.samples import Batch, Pads, Sample, as_sample, collated


@dataclass(frozen=True)
class Augment:
    """A step: functions (array, random numbers) -> array on one element of a sample."""

    functions: tuple[Callable[..., Any], ...]
    element: Any

    def __call__(self, sample: Sample, random: np.random.Generator) -> Sample:
        parts: Any = dict(sample) if isinstance(sample, dict) else list(sample)
        for function in self.functions:
            parts[self.element] = function(np.asarray(parts[self.element]), random)
        return as_sample(parts)


@dataclass(frozen=True)
class Columns:
    """A step: some elements of a dictionary, as a tuple."""

    names: tuple[str, ...]

    def __call__(self, row: dict[str, Any]) -> tuple[Any, ...]:
        missing = [name for name in self.names if name not in row]
        if missing:
            raise GraphError(f"columns: no {missing[0]!r} in a sample of {', '.join(row)}")
        return tuple([row[name] for name in self.names])


@dataclass(frozen=True)
class Recipe:
    """Read samples, change each, stack them, change the batch.

    Attributes:
        source: of the samples.
        seed: of random numbers.
        sample_steps: functions of a sample's elements, or of a dictionary; or `Augment`.
        batch_steps: likewise, of a batch.
        pads: see `collated`; `None`: nothing is padded.
        width: lengths are padded to a multiple of it.
        stacks: `False`: a sample of the source is a batch.
    """

    source: Any
    seed: int
    sample_steps: tuple[Any, ...] = ()
    batch_steps: tuple[Any, ...] = ()
    pads: Pads = None
    width: int = 1
    stacks: bool = True

    def __call__(self, epoch: int, group: Group) -> Batch:
        """The batch of these samples, in epoch number `epoch`."""
        batch: Any = None
        if not (group.samples or self.sample_steps or self.pads is not None):
            batch = self.source.take(group.numbers)
        if batch is None:
            read = group.samples or self.source.many(group.numbers)
            numbered = zip(read, group.numbers.tolist(), strict=True)
            samples = [self._changed(epoch, number, sample) for sample, number in numbered]
            batch = collated(samples, self.pads, self.width) if self.stacks else samples[0]
        for step in self.batch_steps:
            batch = _changed(step, batch)
        if isinstance(batch, dict):
            return {key: np.asarray(value) for key, value in batch.items()}
        return tuple([np.asarray(value) for value in batch])

    def _changed(self, epoch: int, number: int, sample: Sample) -> Sample:
        random = None
        for step in self.sample_steps:
            if isinstance(step, Augment):
                random = random or generator(self.seed, epoch, number)
                sample = step(sample, random)
            else:
                sample = _changed(step, sample)
        return sample


def _changed(step: Callable[..., Any], sample: Any) -> Sample:
    return as_sample(step(sample) if isinstance(sample, dict) else step(*sample))

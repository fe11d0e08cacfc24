"""Finds longer shapes that an op accepts, by trying its shape rule.

Kernels work in blocks, vectors and threads, and some errors occur only beyond the first block;
samples are small.  One group of equal dimensions is enlarged at a time, the smallest group that
`infer` accepts, so that the arrays stay small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from byparts_graph_ir import GraphError, Sample, TensorType, Types

LONG = 97  # odd and above 64: no multiple of a vector, and more than one block of most kernels

Place = tuple[int, int]  # input, axis


def enlarged(sample: Sample) -> Iterator[Sample]:
    """The sample with each free dimension enlarged in turn, to `LONG` elements or a few more."""
    done: set[frozenset[Place]] = set()
    for place in _places(sample.types):
        for group in _groups(sample.types, place):
            if group in done:
                break
            if (longer := _with_longer(sample, group)) is not None:
                done.add(group)
                yield longer
                break


def _places(types: Types) -> list[Place]:
    return [(i, a) for i, t in enumerate(types) for a, d in enumerate(t.dims) if d > 0]


def _groups(types: Types, place: Place) -> Iterator[frozenset[Place]]:
    """Groups of dimensions to enlarge: this one alone, with one equal to it, with all equal."""
    i, a = place
    d, from_end = types[i].dims[a], a - len(types[i].dims)
    equal = [(j, b) for j, b in _places(types) if types[j].dims[b] == d]
    aligned = [(j, b) for j, b in equal if b - len(types[j].dims) == from_end]
    yield frozenset([place])
    for other in equal:
        yield frozenset([place, other])
    yield frozenset(aligned)
    yield frozenset((j, b) for j, b in equal if b == a)
    yield frozenset(equal)


def _with_longer(sample: Sample, group: frozenset[Place]) -> Sample | None:
    """The sample with these dimensions enlarged, or `None` if the op refuses them."""
    i, a = min(group)
    d = sample.types[i].dims[a]
    for size in (LONG, d * -(-LONG // d)):
        types = tuple(
            TensorType(t.dtype, tuple(size if (j, b) in group else e for b, e in enumerate(t.dims)))
            for j, t in enumerate(sample.types)
        )
        try:
            sample.op.infer(*types)
        except GraphError:
            continue
        return replace(sample, types=types)
    return None

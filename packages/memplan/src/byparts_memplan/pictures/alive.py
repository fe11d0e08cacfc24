"""Profiles of a placement: bytes alive over time, and the part of the program they belong to.

Times are steps, and there may be many more of them than buffers, so a profile lists only those at
which something changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from byparts_memplan.amount import human
from byparts_memplan.buffer import Buffer

Profile = list[tuple[int, int]]  # (step, bytes alive from then on), in order of steps
OTHER = "other"
WORKSPACES = "workspaces"
_WORKSPACE = "workspace of "  # how the label of one begins


def profile(buffers: Iterable[Buffer]) -> Profile:
    """Bytes alive, without what gaps leave free.  O(n log n)."""
    change: dict[int, int] = {}
    for b in buffers:
        for born, dies in b.lives:
            change[born] = change.get(born, 0) + b.size_bytes
            change[dies] = change.get(dies, 0) - b.size_bytes
    live = 0
    return [(step, live := live + change[step]) for step in sorted(change)]


def worst(profile: Profile) -> tuple[int, int]:
    """The first step of a profile at which most is alive, and how much that is."""
    return max(profile, key=lambda at: at[1], default=(0, 0))


def alive_at(buffers: Sequence[Buffer], step: int) -> list[int]:
    """The buffers that are needed at a step, the largest first."""
    alive = [
        i
        for i, b in enumerate(buffers)
        if b.size_bytes and any(born <= step < dies for born, dies in b.lives)
    ]
    return sorted(alive, key=lambda i: -buffers[i].size_bytes)


def scope_of(label: str) -> str:
    """The part of the program that a label names: the user's line, else what stands before "/".

    Workspaces of kernels are one part, whoever needs them.

    >>> labels = "%7 conv2d f32[8,64] (net.py:31)", "%1 layer1/w f32[64]", "workspace of %7 conv2d"
    >>> [scope_of(label) for label in labels]
    ['net.py:31', 'layer1', 'workspaces']
    """
    if label.startswith(_WORKSPACE):
        return WORKSPACES
    if label.endswith(")") and " (" in label:
        return label[label.rindex(" (") + 2 : -1]
    words = label.split()
    name = words[1] if len(words) > 1 and words[0].startswith("%") else (words or [""])[0]
    return name.split("/")[0]


def workspaces_in_words(labels: Sequence[str], buffers: Sequence[Buffer]) -> str:
    """The number of buffers that are workspaces, and their bytes together; "" where none is."""
    labelled = zip(buffers, labels, strict=True)
    sizes = [b.size_bytes for b, label in labelled if label.startswith(_WORKSPACE)]
    if not sizes:
        return ""
    what = "1 workspace" if len(sizes) == 1 else f"{len(sizes)} workspaces"
    return f"{what}, {human(sum(sizes))} together"


def scopes(
    labels: Sequence[str], buffers: Sequence[Buffer], most: int
) -> tuple[list[str], dict[str, int]]:
    """The scope of each buffer, and bytes by scope where most is alive, the largest first.

    No more than `most` of them: where lines are too many, files; then the rest is `OTHER`.
    Nothing, where nearly each buffer has one of its own: names that are no scopes.
    """
    names, enough = [scope_of(label) for label in labels], max(most, len(labels) / 2)
    files = [name.rpartition(":")[0] or name for name in names]
    areas = [b.size_bytes * (b.dies - b.born) for b in buffers]
    kept = _largest(names, areas, most)
    shown = sum(a for name, a in zip(names, areas, strict=True) if name in kept)
    if 2 * shown < sum(areas) and 1 < len(set(files)) <= enough:
        names, kept = files, _largest(files, areas, most)
    if len(set(names)) > enough:
        return [], {}
    names = [name if name in kept else OTHER for name in names]
    held = dict.fromkeys(names, 0)
    for i in alive_at(buffers, worst(profile(buffers))[0]):
        held[names[i]] += buffers[i].size_bytes
    return names, dict(sorted(held.items(), key=lambda item: (item[0] == OTHER, -item[1])))


def _largest(names: Sequence[str], areas: Sequence[int], most: int) -> set[str]:
    """The names that take most bytes for most steps; all names if they are not too many."""
    area: dict[str, int] = {}
    for name, a in zip(names, areas, strict=True):
        area[name] = area.get(name, 0) + a
    ranked = sorted(area, key=lambda name: -area[name])
    return set(ranked if len(ranked) <= most else ranked[: most - 1])

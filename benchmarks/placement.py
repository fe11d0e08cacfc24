"""Placement on files and on made-up problems: seconds, bytes over the bound, what is proved.

    python placement.py [FOLDER ...] [--quick]

Files are `id,lower,upper,size[,alignment]`; one named `NAME.CAPACITY.csv`, as those of MinimaLLoc,
is placed within its capacity, with several seeds, and so are variants of it: reversed in time, with
buffers split in two, smaller or shorter, all of which are known to fit.  Made-up are rectangles cut
in pieces, which fill their capacity at all steps, and 20,000 buffers of several kinds.  Seconds are
those of the process, one thread.  Every placement is checked.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import median
from time import process_time

from byparts_memplan import Buffer, DoesNotFit, check, place, read_buffers

Problem = list[Buffer]
LIMIT_S = 10.0
LARGE = 20_000


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--quick", action="store_true", help="one seed, and less of everything")
    given = parser.parse_args()
    files = sorted([file for folder in given.folders for file in folder.glob("*.csv")])
    seeds = range(1 if given.quick else 5)
    tight = {f.name: (_read(f), int(f.name.split(".")[1])) for f in files if _has_capacity(f)}
    _within_table(tight, seeds, each=True)
    _within_table(dict(_variants(tight)), seeds, each=False)
    _within_table(dict(_cuts(150 if given.quick else 450)), seeds, each=False)
    _smallest_table({f.stem: _read(f) for f in files})
    _smallest_table({name: make(LARGE) for name, make in KINDS.items()})


def _read(file: Path) -> Problem:
    return list(read_buffers(file)[1])


def _has_capacity(file: Path) -> bool:
    return file.name.split(".")[1].isdigit()


def _within_table(
    problems: Mapping[str, tuple[Problem, int]], seeds: Sequence[int], each: bool
) -> None:
    """Prints who fits in how many seconds; all rows, or only those not quick, and a summary."""
    seconds, failed = [], 0
    for name, (problem, capacity) in problems.items():
        found = [_within(problem, capacity, seed) for seed in seeds]
        seconds += [s for s in found if s is not None]
        failed += found.count(None)
        if each or max([s if s is not None else LIMIT_S for s in found]) > 1:
            row = " ".join(["    -" if s is None else f"{s:5.2f}" for s in found])
            print(f"{name:40} {len(problem):5}  {row}", flush=True)
    if seconds:
        print(
            f"{len(seconds)} of {len(seconds) + failed} placed, median {median(seconds):.2f} s, "
            f"worst {max(seconds):.2f} s\n"
        )


def _within(problem: Problem, capacity: int, seed: int) -> float | None:
    """Seconds to place it; `None` if it was not."""
    start = process_time()
    try:
        made = place(problem, capacity, time_limit_s=LIMIT_S, seed=seed)
    except DoesNotFit:
        return None
    taken = process_time() - start
    check(problem, made.offsets, capacity)
    return taken


def _smallest_table(problems: Mapping[str, Problem]) -> None:
    for name, problem in problems.items():
        start = process_time()
        made = place(problem)
        taken = process_time() - start
        check(problem, made.offsets, made.arena_bytes)
        over = 100 * (made.arena_bytes / max(made.lower_bound_bytes, 1) - 1)
        says = "optimal" if made.optimal else f"{over:.3f} % over"
        print(f"{name:40} {len(problem):5}  {taken:5.2f} s  {says:14} {made.how}", flush=True)
    print()


def _variants(
    tight: Mapping[str, tuple[Problem, int]],
) -> Iterator[tuple[str, tuple[Problem, int]]]:
    """Problems that fit because those do."""
    for name, (problem, capacity) in tight.items():
        rng = Random(name)
        backwards = [Buffer(b.size_bytes, -b.dies, -b.born) for b in problem]
        made = {
            "reversed": backwards,
            "split in time": _split_time(problem, rng),
            "split in size": _split_size(problem, rng),
            "split in both": _split_size(_split_time(problem, rng), rng),
            "smaller": [_smaller(b, rng) for b in problem],
            "shorter": [_shorter(b, rng) for b in problem],
            "fewer": [b for b in problem if rng.random() > 0.03],
        }
        yield from [(f"{name} {kind}", (some, capacity)) for kind, some in made.items()]


def _split_time(problem: Problem, rng: Random) -> Problem:
    found = []
    for b in problem:
        at = rng.randrange(b.born, b.dies) if rng.random() < 0.3 else b.born
        found += [Buffer(b.size_bytes, b.born, at), Buffer(b.size_bytes, at, b.dies)]
    return [b for b in found if b.born < b.dies]


def _split_size(problem: Problem, rng: Random) -> Problem:
    found = []
    for b in problem:
        part = rng.randrange(0, b.size_bytes, 1024) if rng.random() < 0.3 else 0
        found += [Buffer(size, b.born, b.dies) for size in (part, b.size_bytes - part) if size]
    return found


def _smaller(b: Buffer, rng: Random) -> Buffer:
    less = rng.choice((0, 512, 1024)) if b.size_bytes > 4096 else 0
    return Buffer(b.size_bytes - less, b.born, b.dies)


def _shorter(b: Buffer, rng: Random) -> Buffer:
    most = (b.dies - b.born) // 8 if rng.random() < 0.3 else 0
    return Buffer(b.size_bytes, b.born + rng.randint(0, most), b.dies - rng.randint(0, most))


def _cuts(most: int) -> Iterator[tuple[str, tuple[Problem, int]]]:
    """Rectangles of 1024 units in pieces: no unit is free at any step.

    With few steps many lives begin and end together, and the placement is hard to find.
    """
    for steps in (2000, 160, 80):
        for pieces in range(150, most + 1, 75):
            for pinwheels in (0, 0.3):
                problem = _cut(Random(pieces), pieces, pinwheels, steps)
                yield f"{pieces} pieces, {steps} steps, pinwheels {pinwheels}", (problem, 1 << 20)


def _cut(rng: Random, pieces: int, pinwheels: float, steps: int) -> Problem:
    found = [(0, steps, 0, 1024)]
    while len(found) < pieces:
        sample = rng.sample(range(len(found)), min(3, len(found)))
        k = max(sample, key=lambda k: (found[k][1] - found[k][0]) * (found[k][3] - found[k][2]))
        left, right, low, high = found[k]
        if min(right - left, high - low) < 3:
            continue
        a, b = sorted(rng.sample(range(left + 1, right), 2))
        c, d = sorted(rng.sample(range(low + 1, high), 2))
        if rng.random() < pinwheels:
            ring = [(left, b, low, c), (b, right, low, d), (a, right, d, high), (left, a, c, high)]
            found[k : k + 1] = [*ring, (a, b, c, d)]
        elif rng.random() < 0.5:
            found[k : k + 1] = [(left, right, low, c), (left, right, c, high)]
        else:
            found[k : k + 1] = [(left, a, low, high), (a, right, low, high)]
    return [Buffer((high - low) << 10, left, right) for left, right, low, high in found]


def _random(life: Callable[[Random, int], int]) -> Callable[[int], Problem]:
    def make(count: int) -> Problem:
        rng = Random(1)
        found = []
        for _ in range(count):
            born = rng.randrange(count)
            found.append(Buffer(64 * int(2 ** rng.uniform(0, 14)), born, born + life(rng, count)))
        return found

    return make


def _deep(count: int) -> Problem:
    """Saved activations that die in reverse, and temporary ones beside them."""
    rng, blocks = Random(1), count // 3
    saved = [Buffer(64 * rng.randint(1, 4000), t, 2 * blocks - t, 64) for t in range(blocks)]
    around = [Buffer(64 * rng.randint(1, 900), t, t + 2, 64) for t in range(2 * blocks)]
    return [*saved, *around]


KINDS: Mapping[str, Callable[[int], Problem]] = {
    "deep training": _deep,
    "short lives": _random(lambda rng, _: rng.randint(1, 40)),
    "lives of all lengths": _random(lambda rng, n: int(2 ** rng.uniform(0, 14))),
    "crowds": _random(lambda rng, n: rng.randint(1, n // 20)),
    "most alive together": _random(lambda rng, n: rng.randint(1, n)),
}


if __name__ == "__main__":
    main()

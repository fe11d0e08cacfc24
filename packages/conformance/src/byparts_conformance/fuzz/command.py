"""`byparts fuzz`: many tries of readers: how they ended, and the first wrong one, made small.

    byparts fuzz --reader json --count 1000000 --seed 0
    byparts fuzz --of my_package.fuzzed:READERS

Exit status 1 if one ended in anything but a sound value or a `FormatError`; that includes a try of
more than ten seconds, and memory beyond the limit.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module

from byparts_conformance.fuzz.campaign import Campaign, run, smallest
from byparts_conformance.fuzz.reader import Reader

LONGEST_S, MEMORY_BYTES = 10, 4 << 30


Readers = Mapping[str, Callable[[], Reader]]
OURS = "byparts_conformance.fuzz.graph_readers:READERS"


def fuzz(words: Sequence[str]) -> int:
    """Try readers; returns the exit status: 1 where one ended wrongly, 2 for a name of none."""
    arguments = _parser().parse_args(words)
    readers = named(arguments.of)
    unknown = [name for name in arguments.reader if name not in readers]
    if unknown:
        print(f"byparts fuzz: no reader {unknown[0]!r}; {', '.join(readers)}", file=sys.stderr)
        return 2
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _too_long)
    tries = range(arguments.start, arguments.start + arguments.count)
    names = arguments.reader or list(readers)
    return int(any([_fuzz(readers[name](), tries, arguments.seed) for name in names]))


def named(place: str) -> Readers:
    """The table that "module:name" names."""
    module, _, name = place.partition(":")
    table: Readers = getattr(import_module(module), name)
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("byparts fuzz", description="Try readers on changed files.")
    parser.add_argument("--of", default=OURS, metavar="MODULE:TABLE", help="names -> readers")
    parser.add_argument("--reader", action="append", default=[], help="one of them; or all")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0, help="the number of the first try")
    parser.add_argument("--seed", type=int, default=0)
    return parser


def _fuzz(reader: Reader, tries: range, seed: int) -> bool:
    """Whether something went wrong."""
    before, start = _peak_mb(), time.perf_counter()
    campaign = run(reader, tries, seed, partial(_progress, reader, tries))
    signal.alarm(0)
    print(f"\r{reader.name}: {_counts(campaign)} in {time.perf_counter() - start:.0f} s,", end=" ")
    print(f"peak memory {before} MB before, {_peak_mb() - before} MB more", flush=True)
    if campaign.failure is None:
        return False
    print(f"\n{campaign.why}\nthe smallest file that ends so, seed {seed}:")
    print(repr(smallest(reader, campaign.failure)))
    return True


def _progress(reader: Reader, tries: range, campaign: Campaign, i: int) -> None:
    signal.alarm(LONGEST_S)
    done = i - tries.start + 1
    if done % 10_000 == 0:
        print(
            f"\r{reader.name}: {done:,} of {len(tries):,}: {_counts(campaign)}", end="", flush=True
        )


def _counts(campaign: Campaign) -> str:
    return ", ".join([f"{count:,} {name}" for name, count in campaign.outcomes.most_common()])


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def _too_long(*_: object) -> None:
    raise TimeoutError(f"a try took more than {LONGEST_S} s")

"""Many tries of one reader: how they ended, and the first wrong one, made small.

    python integration/fuzz/run.py --reader npz --count 1000000 --seed 0
    python integration/fuzz/run.py --reader all --count 2000

Exit status 1 if one ended in anything but a sound value or a `FormatError`; that includes a try of
more than ten seconds, and memory beyond the limit.
"""

from __future__ import annotations

import argparse
import resource
import signal
import sys
import time
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from fuzz.campaign import Campaign, run, smallest
from fuzz.reader import Reader
from fuzz.readers import READERS

LONGEST_S, MEMORY_BYTES = 10, 4 << 30


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--reader", choices=[*READERS, "all"], default="all")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--start", type=int, default=0, help="the number of the first try")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGALRM, _too_long)
    names = list(READERS) if given.reader == "all" else [given.reader]
    tries = range(given.start, given.start + given.count)
    return int(any([_fuzz(READERS[name](), tries, given.seed) for name in names]))


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


if __name__ == "__main__":
    sys.exit(main())

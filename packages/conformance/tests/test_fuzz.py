"""Readers of graphs on changed files, and what the fuzzers themselves must find."""

from __future__ import annotations

import subprocess
import sys
from random import Random

import pytest

from byparts_conformance.fuzz.campaign import ACCEPTED, REFUSED, outcome, run, smallest
from byparts_conformance.fuzz.graph_readers import READERS
from byparts_conformance.fuzz.reader import Data, Reader
from byparts_graph_ir import FormatError


@pytest.mark.parametrize("name", READERS)
def test_every_changed_file_is_refused_or_sound(name: str) -> None:
    """No other error, and of both there are some: a fuzzer of refusals alone would see little."""
    campaign = run(READERS[name](), range(600), seed=0)

    assert campaign.wrong == 0, f"{campaign.why}\n{campaign.failure!r}"
    assert campaign.outcomes[ACCEPTED] > 30 < campaign.outcomes[REFUSED], campaign.outcomes


@pytest.mark.parametrize("name", READERS)
def test_a_try_is_the_same_every_time(name: str) -> None:
    one, two = READERS[name](), READERS[name]()

    assert [one.data(3, i) for i in range(50)] == [two.data(3, i) for i in range(50)]


def fuzz(*words: str) -> subprocess.CompletedProcess[str]:
    """`byparts fuzz` in a process of its own: it limits its memory."""
    command = [sys.executable, "-m", "byparts_graph_ir", "fuzz", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_says_how_the_tries_ended() -> None:
    done = fuzz("--reader", "json", "--count", "20")

    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith("json: ") and "peak memory" in done.stdout


def test_a_reader_that_there_is_not_is_named() -> None:
    done = fuzz("--reader", "jsno")

    assert (done.returncode, done.stderr) == (2, "byparts fuzz: no reader 'jsno'; text, json\n")


def test_a_wrong_error_is_found_and_made_small() -> None:
    """Of a reader that breaks at one letter, that letter is left."""

    def read(text: str) -> str:
        if not text.startswith("<"):
            raise FormatError("no <")
        return text if "~" not in text else text[len(text)]

    def mutate(random: Random, seed: str) -> Data:
        at = random.randrange(len(seed))
        return seed[:at] + random.choice("<~x") + seed[at + 1 :]

    reader = Reader("toy", ["<abcdefgh>"], mutate, read, lambda text: None)
    campaign = run(reader, range(100), seed=0)

    assert campaign.outcomes["IndexError"] == campaign.wrong > 0 < campaign.outcomes[REFUSED]
    assert campaign.failure is not None
    assert smallest(reader, campaign.failure) == "<~"
    assert outcome(reader, "<~")[0] == "IndexError"


def test_what_is_accepted_is_checked() -> None:
    def check(found: object) -> None:
        assert found == "right", "it is not sound"

    reader = Reader("toy", ["wrong"], lambda random, seed: seed, lambda text: text, check)

    assert run(reader, range(3), seed=0).outcomes == {"AssertionError": 3}

"""Many tries of one reader: how each ended, and the first that ended wrongly, made small."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from byparts_conformance.fuzz.reader import Data, Reader

ACCEPTED, REFUSED = "accepted", "refused"
_MOST_TRIES = 2000  # to make a file smaller


@dataclass
class Campaign:
    """Outcomes of some tries.

    Attributes:
        outcomes: accepted, refused or the name of another error, and how often.
        failure: the file of the first try that ended in another error.
        why: its traceback.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    failure: Data | None = None
    why: str = ""

    @property
    def wrong(self) -> int:
        """Tries that ended in something other than a sound value or a refusal."""
        return self.outcomes.total() - self.outcomes[ACCEPTED] - self.outcomes[REFUSED]


def run(
    reader: Reader, tries: range, seed: int, progress: Callable[[Campaign, int], None] | None = None
) -> Campaign:
    """Make the tries with these numbers."""
    campaign = Campaign()
    for i in tries:
        data = reader.data(seed, i)
        name, why = outcome(reader, data)
        campaign.outcomes[name] += 1
        if why and campaign.failure is None:
            campaign.failure, campaign.why = data, why
        if progress is not None:
            progress(campaign, i)
    return campaign


def outcome(reader: Reader, data: Data) -> tuple[str, str]:
    """Outcome of a file: accepted, refused, or the name and traceback of another error."""
    try:
        reader.check(reader.read(data))
    except reader.refusals:
        return REFUSED, ""
    except Exception as error:  # what is looked for
        return type(error).__name__, traceback.format_exc()
    return ACCEPTED, ""


def smallest(reader: Reader, data: Data) -> Data:
    """A part of the file that ends in the same error: pieces are left out while it does."""
    wanted = outcome(reader, data)[0]
    piece, tries = len(data) // 2, 0
    while piece and tries < _MOST_TRIES:
        at = 0
        while at < len(data) and tries < _MOST_TRIES:
            without: Data = data[:at] + data[at + piece :]  # type: ignore[operator]  # both of one kind
            tries += 1
            if outcome(reader, without)[0] == wanted:
                data = without
            else:
                at += piece
        piece //= 2
    return data

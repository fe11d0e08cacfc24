"""Random programs, and whether a backend computes what they mean.

byparts check NAME --programs 1000
"""

from byparts_conformance.programs.bounds import Expected as Expected, expected as expected
from byparts_conformance.programs.campaign import (
    Failure as Failure,
    Report as Report,
    campaign as campaign,
    campaign_on_threads as campaign_on_threads,
)
from byparts_conformance.programs.generate import generate as generate, smooth as smooth
from byparts_conformance.programs.minimise import minimised as minimised
from byparts_conformance.programs.program import Program as Program
from byparts_conformance.programs.text import (
    as_test as as_test,
    program_of as program_of,
    text_of as text_of,
)
from byparts_conformance.programs.trial import run as run, trial as trial

__all__ = [
    *("Expected", "Failure", "Program", "Report"),
    *("campaign", "campaign_on_threads", "generate", "smooth"),
    *("expected", "minimised", "run", "trial"),
    *("as_test", "program_of", "text_of"),
]

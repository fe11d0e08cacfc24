"""Least work of a loop that threads share: 50 microseconds, or what a variable says.

`BYPARTS_SHARE_FROM_US=0` shares every loop that may be, however short: results must be the same, so
that is how short programs try what threads do.
"""

from __future__ import annotations

import os
from math import isfinite

from byparts_graph_ir import BackendError

VARIABLE = "BYPARTS_SHARE_FROM_US"
_USUAL_US = 50.0  # waking another thread takes about 20


def least_us() -> float:
    """Microseconds of work from which a loop is shared.

    Raises:
        BackendError: the variable holds no such number.
    """
    told = os.environ.get(VARIABLE)
    if told is None:
        return _USUAL_US
    try:
        us = float(told)
    except ValueError:
        us = -1.0
    if not isfinite(us) or us < 0:
        raise BackendError(
            f"backend 'native': {VARIABLE}={told}: no number of microseconds, such as 50", "native"
        )
    return us


def usual() -> bool:
    """Whether loops are shared from as much work on as without the variable."""
    return least_us() == _USUAL_US


def scaled(usual_work: float) -> float:
    """Work in any unit that takes so long as `usual_work` does where nothing is set."""
    return usual_work * least_us() / _USUAL_US

"""Names of the fastest of several ways to compute the same, measured once and kept on disk.

A backend measures when it first binds a kernel; the answer goes into a file of the cache beside the
compiled code, so that another process finds it.  `BYPARTS_MEASURE=0` measures nothing and asks
nobody: then a rule of the backend decides, always alike.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Collection
from functools import lru_cache

from byparts_graph_ir.fork import make_lock
from byparts_tensor_ir.cache import keep_text, kept_text

_MOST_REMEMBERED = 4096
_lock = make_lock()


def measures() -> bool:
    """Whether anything is measured in this process."""
    return os.environ.get("BYPARTS_MEASURE", "1") != "0"


def file_of(start: str, *about: str) -> str:
    """The name of a file of answers.

    Args:
        start: of the name.
        about: all that the answers depend on beside their keys: the machine, settings, our code.
    """
    return f"{start}-{hashlib.sha256(chr(0).join(about).encode()).hexdigest()[:16]}.json"


def known(file: str, key: str) -> str | None:
    """The name of the fastest way, if it was measured before, here or by another process."""
    return _answers(file).get(key) if measures() else None


def fastest(file: str, key: str, ways: Collection[str], measure: Callable[[], str]) -> str:
    """The name of the way that was fastest, now or when it was measured before.

    Args:
        file: of the answers.
        key: of what is computed.
        ways: their names.
        measure: finds the fastest one.  Nobody else's measurement runs beside it; what it raises
            is raised, and nothing is remembered.
    """
    with _lock:
        answers = _answers(file)
        answer = answers.get(key)
        if answer is None or answer not in ways:
            answers[key] = answer = measure()
            kept = {**_read(file), **answers}
            for old in list(kept)[:-_MOST_REMEMBERED]:
                del kept[old]
                answers.pop(old, None)
            keep_text(file, json.dumps(kept))
        return answer


def _answers(file: str) -> dict[str, str]:
    return _of_folder(os.environ.get("BYPARTS_CACHE", ""), file)


@lru_cache(maxsize=8)
def _of_folder(_: str, file: str) -> dict[str, str]:
    """The answers in a file, read once; `fastest` adds to the dict that is returned."""
    return _read(file)


def _read(file: str) -> dict[str, str]:
    answers = json.loads(kept_text(file) or "{}")
    return {k: v for k, v in answers.items() if isinstance(v, str)}

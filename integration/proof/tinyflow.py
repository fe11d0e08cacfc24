"""TinyFlow's dialect trains as by hand on whatever kernels are here."""

from __future__ import annotations

from collections.abc import Iterator

import byparts_tinyflow as tf
from proof import tensorflow
from proof.spec import Check, Spec


def checks(spec: Spec) -> Iterator[Check]:
    """Those of `tensorflow.py`, with TinyFlow's functions and session."""
    return tensorflow.checks(spec, tf)

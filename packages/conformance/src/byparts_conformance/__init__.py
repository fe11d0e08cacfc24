"""The kit that tests any backend, pass or op."""

from byparts_conformance.cases import Case, cases_of, f64_cases
from byparts_conformance.compare import difference
from byparts_conformance.kernel import Mismatch, check as kernel_check
from byparts_conformance.meaning import (
    decomposition,
    gradient,
    round_trips,
    shape_rule,
    unknown_shapes,
)

__version__ = "0.2.0"

__all__ = [
    "Case",
    "Mismatch",
    "cases_of",
    "decomposition",
    "difference",
    "f64_cases",
    "gradient",
    "kernel_check",
    "round_trips",
    "shape_rule",
    "unknown_shapes",
]

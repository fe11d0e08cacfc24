"""Passes that make a graph smaller (fold, simplify, merge), or fit a backend (legalize, fuse)."""

from byparts_optimize.canonical import canonical
from byparts_optimize.fold import fold
from byparts_optimize.fuse import fuse
from byparts_optimize.legalize import legalize
from byparts_optimize.merge import merge
from byparts_optimize.optimize import optimize
from byparts_optimize.prune import prune
from byparts_optimize.rules import fast_rules, rules
from byparts_optimize.share import share
from byparts_optimize.simplify import simplify
from byparts_optimize.transfer import spaces, transfer

__all__ = [
    "canonical",
    "fast_rules",
    "fold",
    "fuse",
    "legalize",
    "merge",
    "optimize",
    "prune",
    "rules",
    "share",
    "simplify",
    "spaces",
    "transfer",
]

__version__ = "0.2.0"

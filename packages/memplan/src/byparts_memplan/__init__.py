"""One arena for all intermediate values: lifetimes, in-place, offsets."""

__version__ = "0.1.0"

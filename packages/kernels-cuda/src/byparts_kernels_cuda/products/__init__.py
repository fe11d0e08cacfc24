"""Sums of products on a GPU: matrices, and whatever can be said as a contraction."""

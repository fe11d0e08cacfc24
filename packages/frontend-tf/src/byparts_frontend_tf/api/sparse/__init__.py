"""Sparse tensors, and rows that belong together."""

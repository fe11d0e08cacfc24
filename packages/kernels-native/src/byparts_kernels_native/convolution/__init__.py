"""Convolutions of floats and their gradients: which way is fastest, and the C of each."""

"""The standard ops: shape rules, NumPy meaning, gradients, samples."""

__version__ = "0.1.0"

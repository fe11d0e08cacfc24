"""The TinyFlow API (TensorFlow 1 programs, by changing the import line)."""

__version__ = "0.1.0"

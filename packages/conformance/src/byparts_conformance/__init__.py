"""The kit that tests any backend, pass or op."""

__version__ = "0.1.0"

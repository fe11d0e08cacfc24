"""Functions ordered by what they read and write, run on worker threads."""

__version__ = "0.2.0"

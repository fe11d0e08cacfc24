"""A loop-level IR: tensor expressions, schedules, and emitters of code."""

__version__ = "0.1.0"

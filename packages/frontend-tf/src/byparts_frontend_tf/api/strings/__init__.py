"""Strings, on the host."""

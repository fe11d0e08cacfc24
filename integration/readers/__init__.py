"""Readers of files of all parts, for `byparts fuzz` and the tests."""

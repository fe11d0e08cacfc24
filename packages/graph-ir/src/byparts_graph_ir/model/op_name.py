"""The name of an op in text and JSON: its class name in snake_case."""

from __future__ import annotations


def snake_case(name: str) -> str:
    """`LogSoftmax` -> log_softmax; digits stay with what stands before them: `Conv2d` -> conv2d."""
    words = name[:1]  # without `re`, which takes longer to import than to name all ops
    for before, letter, after in zip(name, name[1:], (*name[2:], ""), strict=False):
        if letter.isupper() and (not before.isupper() or after.islower()):
            words += "_"
        words += letter
    return words.lower()

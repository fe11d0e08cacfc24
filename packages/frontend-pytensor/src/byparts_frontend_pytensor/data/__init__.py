"""Data sets: digits, sentences, a toy sequence."""

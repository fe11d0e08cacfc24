"""Writes the API that it was made for as a text."""

BYPARTS_API = "1.0"

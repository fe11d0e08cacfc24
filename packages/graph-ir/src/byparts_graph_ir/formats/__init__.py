"""A graph as text, JSON, rows for another process, and pictures."""

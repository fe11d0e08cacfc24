"""A program while it runs: bound steps, the commit, captured stretches."""

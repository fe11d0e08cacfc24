"""Which combinations of parts there are, and an environment for each; `matrix.py` runs them."""

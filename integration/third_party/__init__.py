"""Distributions of strangers, good and broken, and environments to install them in."""

"""Models that are ready to train."""

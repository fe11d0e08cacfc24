"""Sessions that train: hooks, checkpoints, supervisors, exported models."""

"""Checkpoints, graphs and models in files; graphs taken apart."""

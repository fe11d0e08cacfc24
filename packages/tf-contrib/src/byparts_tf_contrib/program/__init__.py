"""Hyperparameters, vocabularies, the projector of TensorBoard."""

"""Layers, losses, optimizers and training: networks written as you think."""

__version__ = "0.2.0"

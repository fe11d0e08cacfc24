"""Tensors, operations, parameters, the graph with its tape, optimizers and trainers."""

"""Optimizers: modules that give weights their next values, from gradients."""

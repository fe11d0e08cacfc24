"""Optimizers: modules that give weights their next values, from gradients."""

from byparts_nn.optimizers.adam import Adam, AdamW
from byparts_nn.optimizers.adaptive import Adagrad, Lion, RMSProp
from byparts_nn.optimizers.muon import Muon
from byparts_nn.optimizers.optimizer import Group, Optimizer
from byparts_nn.optimizers.sgd import SGD

__all__ = [
    "SGD",
    "Adagrad",
    "Adam",
    "AdamW",
    "Group",
    "Lion",
    "Muon",
    "Optimizer",
    "RMSProp",
]

"""Layers, losses, optimizers and training: `import byparts.nn` is `byparts_nn`."""

import sys

import byparts_nn

sys.modules[__name__] = byparts_nn

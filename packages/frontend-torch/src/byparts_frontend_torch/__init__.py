"""Models of PyTorch as graphs and weights: `from_exported(torch.export.export(model, args))`."""

from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.from_exported import Imported, from_exported
from byparts_frontend_torch.rules import Rules, rules

__version__ = "0.2.0"

__all__ = ["from_exported", "Imported", "UnsupportedOp", "Rules", "rules"]

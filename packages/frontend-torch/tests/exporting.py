"""Exports for tests: torch's own warnings are not ours to fail on.  Not a test file."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from byparts_frontend_torch import Imported, from_exported


def exported(model: Any, *args: Any, **options: Any) -> Any:
    """What `torch.export.export` gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(model, args, **options)


def imported(model: Any, *args: Any, **options: Any) -> Imported:
    """Exported, then imported."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return from_exported(torch.export.export(model, args), **options)


class Function(torch.nn.Module):  # type: ignore[misc]
    """A function as a model."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)

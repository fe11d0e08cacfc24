"""Exports for tests, which are skipped where there is no torch.  Not a test file.

Torch's own warnings are not ours to fail on.
"""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from byparts_frontend_torch import Imported, from_exported

pytest.importorskip("torch", reason="needs torch")

import torch


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

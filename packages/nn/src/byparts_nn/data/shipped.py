"""Data that comes with this part, small enough to try things on: digits and sonnets."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from byparts_nn.data.samples import Array

_FOLDER = Path(__file__).parent


def digits() -> tuple[Array, Array]:
    """Handwritten digits: f32 [1797, 1, 8, 8] from 0 to 1, and their labels, i64 [1797].

    The test half of "Optical Recognition of Handwritten Digits" (E. Alpaydin, C. Kaynak, 1998),
    UCI Machine Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0.
    """
    with np.load(_FOLDER / "digits.npz") as file:
        pictures = file["images"].astype(np.float32) / np.float32(16)
        return pictures[:, None], file["labels"].astype(np.int64)


def sonnets() -> str:
    """Four sonnets of Shakespeare: 18, 29, 116 and 130."""
    return (_FOLDER / "sonnets.txt").read_text(encoding="utf-8")

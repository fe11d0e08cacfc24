"""Reads checkpoints of TensorFlow, of both formats, and our own, which are of the second.

    checkpoint = read_checkpoint("model.ckpt-100")
    checkpoint.dims("w"), checkpoint["w"]

Nothing but the table of names is read until a tensor is asked for.
"""

from __future__ import annotations

import os
from glob import escape, glob
from typing import Any

from byparts_tf_files.bundle import Bundle
from byparts_tf_files.errors import NotFoundError
from byparts_tf_files.first_format import FirstFormat
from byparts_tf_files.paths import path_of
from byparts_tf_files.tensors_by_name import TensorsByName

FIVE_DIGITS = "[0-9]" * 5  # in the name of a file in several parts, for `glob`


def read_checkpoint(path: Any) -> TensorsByName:
    """The checkpoint whose files begin so.

    Raises:
        NotFoundError: there is none.
        DataLossError: it is damaged.
    """
    prefix = path_of(path)
    if os.path.isfile(f"{prefix}.index"):
        return Bundle(prefix)
    files = first_format_files(prefix)
    if not files:
        what = "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for"
        raise NotFoundError(None, None, f"{what} {prefix}")
    return FirstFormat(prefix, files)


def first_format_files(prefix: str) -> list[str]:
    """The files of a checkpoint of the first format, which may be in several parts."""
    if os.path.isfile(prefix):
        return [prefix]
    return sorted(glob(f"{escape(prefix)}-{FIVE_DIGITS}-of-{FIVE_DIGITS}"))

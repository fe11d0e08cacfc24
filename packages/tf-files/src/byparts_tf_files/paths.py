"""Paths of files as programs give them."""

from __future__ import annotations

import os
from typing import Any

from byparts_tf_files.errors import UnimplementedError


def path_of(given: Any) -> str:
    """A path as text; `file://` in front is left out.

    Raises:
        TypeError: it is no path.
    """
    path = os.fsdecode(os.fspath(given))
    return path.removeprefix("file://")


def local_path(given: Any) -> str:
    """A path of this machine.

    Raises:
        UnimplementedError: it is of another system.
    """
    path = path_of(given)
    scheme, separator, _ = path.partition("://")
    if separator and scheme.isalnum():
        what = f"File system scheme '{scheme}' not implemented (file: '{path}')"
        raise UnimplementedError(None, None, what)
    return path

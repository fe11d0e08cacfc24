"""Choice of parameters: by a regular expression, or a function of path and cell."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Optional, Union

from byparts_eager import Cell
from byparts_graph_ir import ArgumentError

Where = Union[str, Callable[[str, Cell], bool]]


def chosen(where: Optional[Where], path: str, cell: Cell) -> bool:
    """Whether `where` finds the cell; `None` finds all.

    Raises:
        ArgumentError: it is neither a regular expression nor a function.
    """
    if where is None:
        return True
    if callable(where):
        return bool(where(path, cell))
    if not isinstance(where, str):
        raise ArgumentError(f"where: {where!r:.60} is no regular expression and no function")
    return re.search(where, path) is not None

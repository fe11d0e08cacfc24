"""The one table of MXNet's ops; see `entry`."""

from byparts_frontend_mxnet.ops import (  # noqa: F401  # they fill the table
    contrib,
    elementwise,
    layers,
    losses,
    reduce,
    sequence,
    shape,
)
from byparts_frontend_mxnet.ops.entry import OpEntry, find, table

__all__ = ["OpEntry", "find", "table"]

"""Programs of pytensor, define-by-run in NumPy, by changing the import line.

A network is a class: its operations stand in `__init__`, `forward` calls them, and the graph keeps
what ran on a tape that `backward` walks from the end.  Modules have pytensor's names and, like its
modules, are made to be imported with a star.
"""

from byparts_frontend_pytensor.network.graph import Graph as Graph
from byparts_frontend_pytensor.network.tensor import *  # noqa: F403

__version__ = "0.2.0"

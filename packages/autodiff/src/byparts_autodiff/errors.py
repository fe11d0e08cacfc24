"""What can be wrong with a gradient."""

from __future__ import annotations

from byparts_graph_ir import GraphError


class GradientError(GraphError):
    """A gradient that cannot be taken, or that is wrong."""

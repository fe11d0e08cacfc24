"""The error type of this part."""

from __future__ import annotations

from byparts_graph_ir import GraphError


class GradientError(GraphError):
    """A gradient cannot be computed, or a gradient rule is wrong."""

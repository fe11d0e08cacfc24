"""Errors for what we cannot take from a program of torch."""

from __future__ import annotations

from byparts_graph_ir import GraphError


class UnsupportedOp(GraphError):
    """An op of torch without a rule here, or a use of one that its rule does not cover.

    A rule raises it to say that torch's own decomposition of the op should be taken instead, where
    there is one.
    """

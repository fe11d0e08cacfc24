"""Nodes are compared as they were written.  Says: their readers are equal in their turn."""

from exercise import changed

merge = changed(
    __file__, ("= {}", "= {0: iter(graph.nodes)}"), ("node.inputs)", "next(seen[0]).inputs)")
).merge

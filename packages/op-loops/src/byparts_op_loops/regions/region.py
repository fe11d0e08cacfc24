"""A region of elementwise ops, broadcasts, reductions and movements as loops of tensor-ir.

Four stages, each with a result that prints:

    layout      which axes of the nodes are one: each becomes one loop
    steps       which stores there are; all else is written into the expressions that read it
    loops       the steps in as few loops as can be; what is dear and would be computed in several
                of them is kept: it is a step more, in new loops
    in place    the function of tensor-ir, and which inputs and outputs of it may be the same bytes
"""

from __future__ import annotations

from byparts_graph_ir import Graph
from byparts_op_loops.regions.inplace import pairs_of
from byparts_op_loops.regions.keep import values_to_keep
from byparts_op_loops.regions.layout import layout
from byparts_op_loops.regions.nest import nested
from byparts_op_loops.regions.print_stages import printed
from byparts_op_loops.regions.statements import function_of
from byparts_op_loops.regions.steps import steps_of


class RegionLoops:
    """The loops of a region.

    Args:
        graph: of elementwise ops, broadcasts and reductions; all types static.
        few_columns: sums over rows of at most so many columns have the loop over rows inside, so
            that each sum stays in a register; 0: rows are always outside.
        dear: additions an element; what costs as much is kept where several loops need it, in a
            local buffer, rather than computed in each.

    Attributes:
        layout, steps, nest: results of the first three stages.
        func: buffers are the inputs, then the outputs, of the graph.
        inplace: pairs (input, output) that may be the same bytes.

    Raises:
        Refused: the values have no iteration space in common.
    """

    def __init__(self, graph: Graph, few_columns: int = 0, dear: int = 20) -> None:
        self.layout = layout(graph.nodes)
        self.steps = steps_of(graph, self.layout)
        self.nest = nested(self.steps)
        if kept := values_to_keep(self.nest, dear):
            self.steps = steps_of(graph, self.layout, kept)
            self.nest = nested(self.steps)
        self.func = function_of(self.nest, few_columns)
        self.inplace = pairs_of(self.func, graph)

    def __str__(self) -> str:
        """The results of the stages."""
        return printed(self.nest, self.func, self.inplace)

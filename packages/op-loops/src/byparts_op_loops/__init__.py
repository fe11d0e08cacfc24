"""Ops as loops: what each op computes as tensor expressions, and regions of graphs as one function.

elementwise, reduction, movement    tables of the ops that regions are made of
function                            the table of ops that are functions of whole tensors
regions/                            graphs of elementwise ops, reductions and movements as loops
narrow                              halves and i4, for every rule
keys                                what code that is kept on the disk depends on
"""

from byparts_graph_ir.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_op_loops.elementwise import element as element
    from byparts_op_loops.function import Function as Function, function as function
    from byparts_op_loops.keys import short_key as short_key
    from byparts_op_loops.movement import movement as movement
    from byparts_op_loops.reduction import reduction as reduction
    from byparts_op_loops.regions.joins import joins as joins
    from byparts_op_loops.regions.region import RegionLoops as RegionLoops

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        elementwise="element",
        function="Function function",
        keys="short_key",
        movement="movement",
        reduction="reduction",
        **{"regions.joins": "joins", "regions.region": "RegionLoops"},
    )

__version__ = "0.2.0"

"""Rematerialisation: fewer bytes alive, for more work."""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_recompute.chains.chain import (
        Chain as Chain,
        Schedule as Schedule,
        Stage as Stage,
        check_schedule as check_schedule,
        homogeneous as homogeneous,
    )
    from byparts_recompute.chains.named import (
        recursive_schedule as recursive_schedule,
        sequential_schedule as sequential_schedule,
        sqrt_schedule as sqrt_schedule,
    )
    from byparts_recompute.chains.optimal import (
        ChainTable as ChainTable,
        optimal_schedule as optimal_schedule,
        optimal_within as optimal_within,
    )
    from byparts_recompute.chains.recurrence import (
        forward_evaluations as forward_evaluations,
        recurrence_schedule as recurrence_schedule,
    )
    from byparts_recompute.chains.sequences import chain_sequences as chain_sequences
    from byparts_recompute.pictures import (
        tradeoff_svg as tradeoff_svg,
        tradeoff_text as tradeoff_text,
    )
    from byparts_recompute.recomputed import (
        BudgetError as BudgetError,
        Recomputation as Recomputation,
    )
    from byparts_recompute.rematerialize import (
        recomputation as recomputation,
        rematerialize as rematerialize,
        strategies as strategies,
        tradeoff as tradeoff,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        **{
            "chains.chain": "Chain Schedule Stage check_schedule homogeneous",
            "chains.named": "recursive_schedule sequential_schedule sqrt_schedule",
            "chains.optimal": "ChainTable optimal_schedule optimal_within",
            "chains.recurrence": "forward_evaluations recurrence_schedule",
            "chains.sequences": "chain_sequences",
        },
        pictures="tradeoff_svg tradeoff_text",
        recomputed="BudgetError Recomputation",
        rematerialize="recomputation rematerialize strategies tradeoff",
    )

"""Chains of stages: what to keep and what to compute again, for a budget."""

from byparts_graph_ir.lazy_names import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.chains.chain import (
        Chain as Chain,
        Schedule as Schedule,
        Stage as Stage,
        check_schedule as check_schedule,
        homogeneous as homogeneous,
    )
    from byparts_memplan.chains.named import (
        recursive_schedule as recursive_schedule,
        revolve as revolve,
        sequential_schedule as sequential_schedule,
        sqrt_schedule as sqrt_schedule,
    )
    from byparts_memplan.chains.optimal import (
        ChainTable as ChainTable,
        optimal_schedule as optimal_schedule,
        optimal_within as optimal_within,
    )
    from byparts_memplan.chains.recurrence import (
        forward_evaluations as forward_evaluations,
        recurrence_schedule as recurrence_schedule,
    )
    from byparts_memplan.chains.sequences import (
        chain_sequences as chain_sequences,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        chain="Chain Schedule Stage check_schedule homogeneous",
        named="recursive_schedule revolve sequential_schedule sqrt_schedule",
        optimal="ChainTable optimal_schedule optimal_within",
        recurrence="forward_evaluations recurrence_schedule",
        sequences="chain_sequences",
    )

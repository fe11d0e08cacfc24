"""A planner of one arena for all intermediate values: lifetimes, in-place, offsets."""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_memplan.buffer import (
        Buffer as Buffer,
        DoesNotFit as DoesNotFit,
        OverBudget as OverBudget,
        PlanError as PlanError,
        lower_bound as lower_bound,
    )
    from byparts_memplan.check import (
        check as check,
    )
    from byparts_memplan.check_plan import (
        check_plan as check_plan,
    )
    from byparts_memplan.conflict import (
        smallest_subset as smallest_subset,
    )
    from byparts_memplan.csv_format import (
        read_buffers as read_buffers,
        write_placement as write_placement,
    )
    from byparts_memplan.json_format import (
        placement_from_json as placement_from_json,
        placement_to_json as placement_to_json,
        plan_from_json as plan_from_json,
        plan_to_json as plan_to_json,
    )
    from byparts_memplan.lifetimes import (
        Decision as Decision,
    )
    from byparts_memplan.order import (
        order as order,
        peak_bytes as peak_bytes,
    )
    from byparts_memplan.pictures import (
        curve_svg as curve_svg,
        curve_text as curve_text,
        live_bytes as live_bytes,
    )
    from byparts_memplan.place import (
        place as place,
    )
    from byparts_memplan.placed import (
        Placement as Placement,
    )
    from byparts_memplan.plan import (
        Location as Location,
        Plan as Plan,
        plan as plan,
    )
    from byparts_memplan.relocate import (
        relocate as relocate,
    )
    from byparts_memplan.report import (
        report as report,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        buffer="Buffer DoesNotFit OverBudget PlanError lower_bound",
        check="check",
        check_plan="check_plan",
        conflict="smallest_subset",
        csv_format="read_buffers write_placement",
        json_format="placement_from_json placement_to_json plan_from_json plan_to_json",
        lifetimes="Decision",
        order="order peak_bytes",
        pictures="curve_svg curve_text live_bytes",
        placed="Placement",
        place="place",
        plan="Location Plan plan",
        relocate="relocate",
        report="report",
    )

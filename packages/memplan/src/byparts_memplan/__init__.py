"""One arena for all intermediate values: lifetimes, in-place, offsets."""

from byparts_memplan.buffer import Buffer, Placement, PlanError, lower_bound
from byparts_memplan.check import check
from byparts_memplan.check_plan import check_plan
from byparts_memplan.json_format import (
    placement_from_json,
    placement_to_json,
    plan_from_json,
    plan_to_json,
)
from byparts_memplan.lifetimes import Decision
from byparts_memplan.place import place
from byparts_memplan.plan import Location, Plan, plan

__version__ = "0.1.0"

__all__ = [
    "Buffer",
    "lower_bound",
    "place",
    "Placement",
    "check",
    "plan",
    "Plan",
    "Location",
    "Decision",
    "check_plan",
    "PlanError",
    "placement_to_json",
    "placement_from_json",
    "plan_to_json",
    "plan_from_json",
]

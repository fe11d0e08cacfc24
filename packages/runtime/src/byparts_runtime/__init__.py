"""Programs: a graph, a memory plan and kernels, bound together and run."""

from byparts_runtime.executor import Executor, Statistics
from byparts_runtime.plan import Location, Plan, Planner, separate
from byparts_runtime.profile import Profile
from byparts_runtime.program import BoundProgram, Program, build
from byparts_runtime.variable import Store, Variable

__all__ = [
    "BoundProgram",
    "Executor",
    "Location",
    "Plan",
    "Planner",
    "Profile",
    "Program",
    "Statistics",
    "Store",
    "Variable",
    "build",
    "separate",
]

__version__ = "0.1.0"

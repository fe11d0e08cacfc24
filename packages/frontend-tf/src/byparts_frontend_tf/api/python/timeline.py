"""`Timeline`: what a run has told of itself, for Chrome's page about:tracing.

Source: "Trace Event Format" (Chromium): complete events ("X") with microseconds, by process (the
device) and thread (a lane in which no two operations overlap).
"""

from __future__ import annotations

import json
from typing import Any

from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.messages.config import StepStats


@symbol("python.client.timeline.Timeline")
class Timeline:
    """A run as it went.

    Args:
        step_stats: of the run's `RunMetadata`.
        graph: not needed.
    """

    def __init__(self, step_stats: StepStats, graph: Any = None) -> None:
        self._stats = step_stats

    def generate_chrome_trace_format(
        self, show_dataflow: bool = True, show_memory: bool = False, op_time: str = "schedule"
    ) -> str:
        """The run as JSON.

        Args:
            show_dataflow: not shown here.
            show_memory: not shown here.
            op_time: not needed: operations have one time each.
        """
        events: list[dict[str, Any]] = []
        for process, device in enumerate(self._stats.dev_stats):
            name = {"name": f"{device.device} Compute"}
            events.append({"name": "process_name", "ph": "M", "pid": process, "args": name})
            free_at: list[int] = []  # the microsecond at which each lane is free
            for node in sorted(device.node_stats, key=lambda n: n.all_start_micros):
                start, duration = node.all_start_micros, node.all_end_rel_micros
                lane = next((i for i, t in enumerate(free_at) if t <= start), len(free_at))
                free_at[lane : lane + 1] = [start + duration]
                label, op = node.timeline_label, node.node_name.partition(":")[2]
                kind = label.partition(" = ")[2].partition("(")[0] or op or node.node_name
                events.append(
                    {
                        **{"ph": "X", "cat": "Op", "name": kind, "pid": process, "tid": lane},
                        **{"ts": start, "dur": duration},
                        "args": {"name": node.node_name, "op": kind},
                    }
                )
        return json.dumps({"traceEvents": events}, indent=4)

"""`tf.test.Benchmark`: how long a run takes."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.symbols import symbol


@symbol("test.Benchmark")
class Benchmark:
    """A class whose methods `benchmark...` time runs of a session."""

    def report_benchmark(
        self,
        iters: Optional[int] = None,
        cpu_time: Optional[float] = None,
        wall_time: Optional[float] = None,
        throughput: Optional[float] = None,
        extras: Any = None,
        name: Optional[str] = None,
        metrics: Any = None,
    ) -> None:
        """Print what was measured; times in seconds."""
        measured = {
            **{"iters": iters, "wall_time": wall_time, "cpu_time": cpu_time},
            **{"throughput": throughput, "extras": extras or None, "metrics": metrics},
        }
        said = ", ".join(f"{k}: {v}" for k, v in measured.items() if v is not None)
        print(f"{name or type(self).__name__}: {said}", flush=True)

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: Optional[str] = None,
        extras: Any = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Time runs of an operation; reports and returns the median of their times in seconds.

        Args:
            sess: the session.
            op_or_tensor: what is fetched.
            feed_dict: what is fed.
            burn_iters: runs that are not timed.
            min_iters: runs that are.
            store_trace: accepted.
            store_memory_usage: accepted.
            name: of the report.
            extras: for the report.
            mbs: megabytes that a run reads and writes, for the throughput.
        """
        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        times_s = []
        for _ in range(min_iters):
            begun_s = perf_counter()
            sess.run(op_or_tensor, feed_dict)
            times_s.append(perf_counter() - begun_s)
        median_s = float(np.median(times_s))
        throughput = mbs / median_s if mbs else None
        self.report_benchmark(min_iters, None, median_s, throughput, extras, name)
        return {
            "name": name,
            "iters": min_iters,
            "wall_time": median_s,
            "throughput": throughput or 0.0,
            "extras": extras or {},
        }

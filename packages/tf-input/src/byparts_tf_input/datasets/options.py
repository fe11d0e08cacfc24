"""`tf.data.Options` and its parts: accepted, and nothing changes."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.symbols import symbol


@symbol(
    "data.Options",
    *[f"data.experimental.{n}" for n in ("OptimizationOptions", "ThreadingOptions")],
    *("data.experimental.StatsOptions", "data.experimental.DistributeOptions"),
)
class Options:
    """Options of datasets: attributes of any name, which change nothing here."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Options()
        setattr(self, name, made)
        return made

    def merge(self, options: Options) -> Options:
        """The options of both."""
        made = Options()
        made.__dict__.update({**self.__dict__, **options.__dict__})
        return made

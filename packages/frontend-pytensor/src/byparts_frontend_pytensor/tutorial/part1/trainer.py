"""The trainer of part 1: that of `network`."""

from byparts_frontend_pytensor.network.trainer import *  # noqa: F403

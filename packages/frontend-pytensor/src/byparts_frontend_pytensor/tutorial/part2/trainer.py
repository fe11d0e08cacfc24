"""The trainer of part 2: that of `network`."""

from byparts_frontend_pytensor.network.trainer import *  # noqa: F403

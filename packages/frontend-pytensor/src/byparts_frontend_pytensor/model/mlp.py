"""`MLP`, where programs import it from."""

from byparts_frontend_pytensor.model.linear import *  # noqa: F403

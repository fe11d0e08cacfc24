"""Names of 2018: `Variable` is `Tensor`, `LongVariable` is `LongTensor`."""

from byparts_frontend_pytensor.network.tensor import *  # noqa: F403

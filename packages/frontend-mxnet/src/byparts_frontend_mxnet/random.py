"""`mx.random`: the seed, and the functions of `nd.random`."""

from typing import Any

from byparts_frontend_mxnet import nd
from byparts_frontend_mxnet.stream import seed as seed


def __getattr__(name: str) -> Any:
    return getattr(nd.random, name)

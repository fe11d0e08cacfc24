"""The backend: kernels, their memory space, and the pass that makes our ops of everybody's."""

from __future__ import annotations

from acme_byparts_npu.joins import join
from acme_byparts_npu.kernels import kernels
from acme_byparts_npu.space import Npu
from byparts_graph_ir import Backend, Pass


def make() -> Backend:
    """The NPU; the device itself starts with the first command."""
    space = Npu()
    return Backend("npu", space.view, kernels, space=space, passes=(Pass("join-mul-add", join),))

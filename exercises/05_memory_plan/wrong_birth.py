"""Buffers are placed in the order of birth.  Says: resnet18: your arena is 19."""

from exercise import changed

offsets = changed(__file__, (", key=lambda i: -buffers[i].size_bytes", "")).offsets

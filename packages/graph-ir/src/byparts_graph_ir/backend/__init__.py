"""The interface of a backend: kernels in tables, spaces, regions of nodes."""

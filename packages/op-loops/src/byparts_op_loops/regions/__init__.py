"""Regions: graphs of elementwise ops, broadcasts, reductions and movements as loops.

A backend whose kernels are generated takes all of it: `axes.wanted` and `joins.joins` for its
`Backend`, `region.RegionLoops` for the loops, which are made by stages. The loops know no
device: the backend binds them, or shares them among threads, itself.
"""

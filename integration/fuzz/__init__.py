"""Fuzzers of every reader in the tree: seeded, aware of the format, checking what is accepted.

    python integration/fuzz/run.py --reader npz --count 1000000 --seed 0

A try changes a right file a little and reads it.  It must end in a `FormatError`, or in a value
that is sound: a graph that `verify` takes and that prints, saves and comes back equal; arrays of
the types that the file declares.  The tests make 600 tries with each reader (120 with
those that make whole graphs).
"""

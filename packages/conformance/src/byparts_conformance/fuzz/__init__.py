"""Fuzzers of readers of files: seeded, aware of the format, checking what is accepted.

    byparts fuzz --reader json --count 1000000 --seed 0
    byparts fuzz --of my_package.fuzzed:READERS --count 1000000

A try changes a right file a little and reads it.  It must end in a refusal (a `FormatError`), or in
a value that is sound: a graph that `verify` takes and that prints, saves and comes back equal;
arrays of the types that the file declares.  A reader of yours is a `Reader`, and what `--of` names
is a mapping from names to functions that give one: `integration/readers/table.py` has those of the
other parts.
"""

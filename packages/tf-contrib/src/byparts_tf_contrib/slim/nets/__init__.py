"""`slim.nets`: networks whose weights are published; names of variables are those of the files."""

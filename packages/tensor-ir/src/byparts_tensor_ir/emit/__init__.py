"""Writers of code for functions."""

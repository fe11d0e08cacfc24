"""Each reader computes the whole way again.  Says: forward passes more."""

from exercise import changed

checkpoint = changed(__file__, ("if v not in done", "if 1"), (" and v not in done", "")).checkpoint

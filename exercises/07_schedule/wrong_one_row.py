"""Each vector of B that is loaded is used once.  Says: loads for 2 multiply-adds."""

from exercise import changed

schedule = changed(__file__, ("8 if lanes == 16 else 4", "1")).schedule

"""The tile is added up in memory.  Says: the sums stand in C, in memory."""

from exercise import changed

schedule = changed(__file__, ("s.cache_write(", "# (")).schedule

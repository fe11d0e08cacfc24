"""A node with two readers is joined with none.  Says: could be one kernel."""

from exercise import changed

regions = changed(__file__, ("if wants(a)", "if len(readers[a]) == 1 and wants(a)")).regions

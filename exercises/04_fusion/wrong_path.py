"""Whatever is connected is joined.  Says: leaves the region by matmul."""

from exercise import changed

regions = changed(__file__, ("not comes_back(joint, home, readers)", "True")).regions

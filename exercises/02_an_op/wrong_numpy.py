"""NumPy where a graph is built.  Says: there are no numbers yet."""

from exercise import changed

Bump = changed(__file__, ("import b", "import numpy as np, b"), ("* y * y", "* np.square(y)")).Bump

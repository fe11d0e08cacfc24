"""Outputs that nobody reads get no gradient.  Says: for each of its 3 outputs."""

from exercise import changed

gradients = changed(
    __file__, ("if v in dy else ops.zeros_like(v) for v", "for v"), ("tputs]", "tputs if v in dy]")
).gradients

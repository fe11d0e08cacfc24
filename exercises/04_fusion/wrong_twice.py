"""A node that is joined stays in its old region.  Says: is in 3 regions."""

from exercise import changed

regions = changed(
    __file__,
    ("home.update(dict.fromkeys(joint, joint))", "home[b] = joint"),
    (" " * 16 + "changed = True", ""),
).regions

"""Who dies when another one is born is in its way.  Says: it is not alive any more."""

from exercise import changed

offsets = changed(__file__, (".born < b", ".born <= b")).offsets

"""The end of what was passed last is taken.  Says: share bytes."""

from exercise import changed

offsets = changed(__file__, ("max(offset, placed", "(placed")).offsets

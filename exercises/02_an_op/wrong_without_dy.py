"""The derivative, without what comes from behind.  Says: twice the dy."""

from exercise import changed

Bump = changed(__file__, ("dy * y * y", "y * y")).Bump

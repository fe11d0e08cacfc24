"""The last contribution replaces the others.  Says: x is read twice."""

from exercise import changed

gradients = changed(__file__, ("dy[x] + dx if x in dy else dx", "dx")).gradients

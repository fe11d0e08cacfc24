"""Nothing is packed: lanes read what is far apart.  Says: 512 elements apart."""

from exercise import changed

schedule = changed(__file__, ("s.read_through", "return s; s.read_through")).schedule

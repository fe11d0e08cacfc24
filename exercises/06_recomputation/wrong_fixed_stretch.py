"""Every fourth layer is kept, however many there are.  Says: results of layers are alive."""

from exercise import changed

checkpoint = changed(__file__, ("layers[:: isqrt(len(layers))]", "layers[::4]")).checkpoint

"""Effects are merged like anything else.  Says: 1 print is left of 2."""

from exercise import changed

merge = changed(__file__, ("if has_effect(node.op)", "if False")).merge

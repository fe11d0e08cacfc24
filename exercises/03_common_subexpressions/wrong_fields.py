"""The kind of an op is compared, and not its fields.  Says: sums over another axis."""

from exercise import changed

merge = changed(__file__, ("(node.op, node", "(type(node.op), node")).merge

"""Each op as a tensor expression; the only folder of this part that imports byparts-opset.

One row serves the interpreter and every emitter.  An op without a row decomposes.
"""

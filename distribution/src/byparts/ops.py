"""The functions of the op set: `import byparts.ops` is `byparts_opset`."""

import sys

import byparts_opset

sys.modules[__name__] = byparts_opset

"""Models in ONNX files, as graphs and weights: `from_onnx("model.onnx")`."""

from byparts_frontend_onnx.errors import Undetermined, UnsupportedOp
from byparts_frontend_onnx.from_onnx import Imported, from_onnx
from byparts_frontend_onnx.node import OnnxNode
from byparts_frontend_onnx.rules import Rules, rules
from byparts_frontend_onnx.sizes import Sizes

__version__ = "0.2.0"

__all__ = ["from_onnx", "Imported", "Undetermined", "UnsupportedOp", "OnnxNode", "Rules", "rules",
           "Sizes"]  # fmt: skip

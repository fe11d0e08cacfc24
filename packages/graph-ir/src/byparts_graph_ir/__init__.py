"""The graph that every other part speaks, and the hub where parts find each other."""

from byparts_graph_ir.arithmetic import Arithmetic, Operand, arithmetic
from byparts_graph_ir.backend import HOST, Backend, CaptureRefused, HostSpace, KernelRule, Space
from byparts_graph_ir.errors import (
    FormatError,
    GraphError,
    MissingRule,
    ShapeError,
    VerifyError,
    add_note,
)
from byparts_graph_ir.fused import Fused, inline
from byparts_graph_ir.graph import (
    Graph,
    Input,
    Node,
    Op,
    Rule,
    Sample,
    Types,
    Value,
    lift,
    nested,
    producers,
    subgraphs,
)
from byparts_graph_ir.json_format import from_json, to_json
from byparts_graph_ir.pipeline import Pass, Pipeline, Stage, pipeline
from byparts_graph_ir.specialize import infer_inputs, specialize
from byparts_graph_ir.table import Table
from byparts_graph_ir.text import parse, show
from byparts_graph_ir.types import (
    FLOATS,
    INTEGERS,
    ITEM_BYTES,
    Dimension,
    Shape,
    TensorType,
    compatible,
    unify,
)
from byparts_graph_ir.verify import verify
from byparts_graph_ir.where import inherit

__version__ = "0.1.0"

__all__ = [
    "Arithmetic",
    "Operand",
    "arithmetic",
    "HOST",
    "Backend",
    "CaptureRefused",
    "HostSpace",
    "KernelRule",
    "Space",
    "FormatError",
    "GraphError",
    "MissingRule",
    "ShapeError",
    "VerifyError",
    "add_note",
    "Fused",
    "inline",
    "Graph",
    "Input",
    "Node",
    "Op",
    "Rule",
    "Sample",
    "Types",
    "Value",
    "lift",
    "nested",
    "producers",
    "subgraphs",
    "from_json",
    "to_json",
    "Pass",
    "Pipeline",
    "Stage",
    "pipeline",
    "infer_inputs",
    "specialize",
    "Table",
    "parse",
    "show",
    "FLOATS",
    "INTEGERS",
    "ITEM_BYTES",
    "Dimension",
    "Shape",
    "TensorType",
    "compatible",
    "unify",
    "verify",
    "inherit",
]

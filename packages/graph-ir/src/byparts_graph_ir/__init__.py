"""The graph that every other part speaks, and the hub where parts find each other."""

from byparts_graph_ir.backend import HOST, Backend, HostSpace, KernelRule, Space
from byparts_graph_ir.errors import (
    FormatError,
    GraphError,
    MissingRule,
    ShapeError,
    VerifyError,
    add_note,
)
from byparts_graph_ir.graph import (
    Graph,
    Input,
    Node,
    Op,
    Operand,
    Rule,
    Sample,
    Types,
    Value,
    arithmetic,
    lift,
    producers,
    subgraphs,
)
from byparts_graph_ir.specialize import infer_inputs, specialize
from byparts_graph_ir.table import Table
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
from byparts_graph_ir.where import inherit

__version__ = "0.1.0"

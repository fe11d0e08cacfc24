"""The graph that every other part speaks, and the hub where parts find each other."""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.1.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_graph_ir.arithmetic import (
        Arithmetic as Arithmetic,
        Operand as Operand,
        arithmetic as arithmetic,
    )
    from byparts_graph_ir.backend import (
        HOST as HOST,
        Backend as Backend,
        CaptureRefused as CaptureRefused,
        HostSpace as HostSpace,
        KernelRule as KernelRule,
        Space as Space,
    )
    from byparts_graph_ir.barrier import (
        OptimizationBarrier as OptimizationBarrier,
    )
    from byparts_graph_ir.errors import (
        ArgumentError as ArgumentError,
        FormatError as FormatError,
        GraphError as GraphError,
        MissingRule as MissingRule,
        ShapeError as ShapeError,
        VerifyError as VerifyError,
        add_note as add_note,
    )
    from byparts_graph_ir.fused import (
        Fused as Fused,
        inline as inline,
    )
    from byparts_graph_ir.graph import (
        Graph as Graph,
        Input as Input,
        Node as Node,
        Op as Op,
        Rule as Rule,
        Sample as Sample,
        Types as Types,
        Value as Value,
        lift as lift,
        nested as nested,
        producers as producers,
        subgraphs as subgraphs,
    )
    from byparts_graph_ir.json_format import (
        from_json as from_json,
        to_json as to_json,
    )
    from byparts_graph_ir.pipeline import (
        Pass as Pass,
        Pipeline as Pipeline,
        Stage as Stage,
        pipeline as pipeline,
    )
    from byparts_graph_ir.specialize import (
        infer_inputs as infer_inputs,
        specialize as specialize,
    )
    from byparts_graph_ir.table import (
        Table as Table,
    )
    from byparts_graph_ir.text import (
        parse as parse,
        show as show,
    )
    from byparts_graph_ir.types import (
        FLOATS as FLOATS,
        INTEGERS as INTEGERS,
        ITEM_BYTES as ITEM_BYTES,
        Dimension as Dimension,
        Shape as Shape,
        TensorType as TensorType,
        compatible as compatible,
        dtype_name as dtype_name,
        unify as unify,
    )
    from byparts_graph_ir.verify import (
        verify as verify,
    )
    from byparts_graph_ir.where import (
        inherit as inherit,
        scope as scope,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        checked=True,
        arithmetic="Arithmetic Operand arithmetic",
        backend="HOST Backend CaptureRefused HostSpace KernelRule Space",
        barrier="OptimizationBarrier",
        errors="ArgumentError FormatError GraphError MissingRule ShapeError VerifyError add_note",
        fused="Fused inline",
        graph="Graph Input Node Op Rule Sample Types Value lift nested producers subgraphs",
        json_format="from_json to_json",
        pipeline="Pass Pipeline Stage pipeline",
        specialize="infer_inputs specialize",
        table="Table",
        text="parse show",
        types="FLOATS INTEGERS ITEM_BYTES Dimension Shape TensorType compatible dtype_name unify",
        verify="verify",
        where="inherit scope",
    )

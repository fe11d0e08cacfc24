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
        Backend as Backend,
        CaptureRefused as CaptureRefused,
        KernelRule as KernelRule,
    )
    from byparts_graph_ir.barrier import (
        OptimizationBarrier as OptimizationBarrier,
    )
    from byparts_graph_ir.bodies import (
        map_bodies as map_bodies,
    )
    from byparts_graph_ir.choice import (
        stays_whole as stays_whole,
    )
    from byparts_graph_ir.control import (
        Branches as Branches,
        Loop as Loop,
    )
    from byparts_graph_ir.copy_op import (
        Copy as Copy,
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
        graph_flops as graph_flops,
        inline as inline,
        parted as parted,
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
        has_effect as has_effect,
        lift as lift,
        nested as nested,
        producers as producers,
        subgraphs as subgraphs,
    )
    from byparts_graph_ir.json_format import (
        from_json as from_json,
        to_json as to_json,
    )
    from byparts_graph_ir.kernel import (
        Kernel as Kernel,
        Refused as Refused,
        Workspace as Workspace,
    )
    from byparts_graph_ir.pipeline import (
        Pass as Pass,
        Pipeline as Pipeline,
        Stage as Stage,
        pipeline as pipeline,
    )
    from byparts_graph_ir.region import (
        Region as Region,
        reads_of as reads_of,
    )
    from byparts_graph_ir.space import (
        HOST as HOST,
        HostSpace as HostSpace,
        Space as Space,
    )
    from byparts_graph_ir.specialize import (
        body_for as body_for,
        body_inputs as body_inputs,
        infer_inputs as infer_inputs,
        result_types as result_types,
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
        backend="Backend CaptureRefused KernelRule",
        barrier="OptimizationBarrier",
        copy_op="Copy",
        bodies="map_bodies",
        choice="stays_whole",
        control="Branches Loop",
        errors="ArgumentError FormatError GraphError MissingRule ShapeError VerifyError add_note",
        fused="Fused graph_flops inline parted",
        graph="Graph Input Node Op Rule Sample Types Value has_effect lift nested producers"
        " subgraphs",
        json_format="from_json to_json",
        kernel="Kernel Refused Workspace",
        pipeline="Pass Pipeline Stage pipeline",
        region="Region reads_of",
        space="HOST HostSpace Space",
        specialize="body_for body_inputs infer_inputs result_types specialize",
        table="Table",
        text="parse show",
        types="FLOATS INTEGERS ITEM_BYTES Dimension Shape TensorType compatible dtype_name unify",
        verify="verify",
        where="inherit scope",
    )

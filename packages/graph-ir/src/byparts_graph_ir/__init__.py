"""The graph that every other part speaks, and the hub where parts find each other."""

from byparts_graph_ir.lazy_names import lazy_names

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_graph_ir.backend.backend import (
        Backend as Backend,
        CaptureRefused as CaptureRefused,
        KernelRule as KernelRule,
    )
    from byparts_graph_ir.backend.choice import (
        stays_whole as stays_whole,
    )
    from byparts_graph_ir.backend.copy_op import (
        Copy as Copy,
    )
    from byparts_graph_ir.backend.fused import (
        Fused as Fused,
        graph_flops as graph_flops,
        inline as inline,
        parted as parted,
    )
    from byparts_graph_ir.backend.kernel import (
        Kernel as Kernel,
        KernelFamily as KernelFamily,
        Refused as Refused,
        Workspace as Workspace,
    )
    from byparts_graph_ir.backend.region import (
        Region as Region,
        reads_of as reads_of,
    )
    from byparts_graph_ir.backend.space import (
        HOST as HOST,
        HostSpace as HostSpace,
        Space as Space,
    )
    from byparts_graph_ir.backend.table import (
        Table as Table,
    )
    from byparts_graph_ir.errors import (
        ArgumentError as ArgumentError,
        BackendError as BackendError,
        FormatError as FormatError,
        GraphError as GraphError,
        MissingRule as MissingRule,
        ShapeError as ShapeError,
        VerifyError as VerifyError,
        add_note as add_note,
    )
    from byparts_graph_ir.formats.json_format import (
        from_json as from_json,
        to_json as to_json,
    )
    from byparts_graph_ir.formats.text import (
        parse as parse,
    )
    from byparts_graph_ir.model.arithmetic import (
        Arithmetic as Arithmetic,
        Operand as Operand,
        arithmetic as arithmetic,
    )
    from byparts_graph_ir.model.bodies import (
        has_effect as has_effect,
        map_bodies as map_bodies,
        nested as nested,
        subgraphs as subgraphs,
    )
    from byparts_graph_ir.model.control import (
        Branches as Branches,
        Control as Control,
        Loop as Loop,
        ReversedLoop as ReversedLoop,
    )
    from byparts_graph_ir.model.dimension import (
        dimension as dimension,
        dimension_names as dimension_names,
    )
    from byparts_graph_ir.model.graph import (
        Graph as Graph,
        Rule as Rule,
    )
    from byparts_graph_ir.model.op import (
        Op as Op,
        Sample as Sample,
    )
    from byparts_graph_ir.model.types import (
        ARRAY_DTYPES as ARRAY_DTYPES,
        BITS as BITS,
        FLOATS as FLOATS,
        INTEGERS as INTEGERS,
        ITEM_BYTES as ITEM_BYTES,
        ML_DTYPES as ML_DTYPES,
        SUB_BYTE as SUB_BYTE,
        UNSIGNED as UNSIGNED,
        Dimension as Dimension,
        Shape as Shape,
        TensorType as TensorType,
        compatible as compatible,
        dtype_name as dtype_name,
        integer_limits as integer_limits,
        unify as unify,
    )
    from byparts_graph_ir.model.value import (
        Input as Input,
        Node as Node,
        Types as Types,
        Value as Value,
        lift as lift,
        producers as producers,
    )
    from byparts_graph_ir.model.where import (
        inherit as inherit,
        scope as scope,
    )
    from byparts_graph_ir.passes.barrier import (
        OptimizationBarrier as OptimizationBarrier,
    )
    from byparts_graph_ir.passes.pipeline import (
        Pass as Pass,
        Pipeline as Pipeline,
        Stage as Stage,
        pipeline as pipeline,
    )
    from byparts_graph_ir.passes.sizes import (
        with_sizes as with_sizes,
    )
    from byparts_graph_ir.passes.specialize import (
        body_for as body_for,
        body_inputs as body_inputs,
        infer_inputs as infer_inputs,
        result_types as result_types,
        sizes_of as sizes_of,
        specialize as specialize,
    )
    from byparts_graph_ir.passes.verify import (
        verify as verify,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        checked=True,
        errors="ArgumentError BackendError FormatError GraphError MissingRule ShapeError "
        "VerifyError add_note",
        **{
            "backend.backend": "Backend CaptureRefused KernelRule",
            "backend.choice": "stays_whole",
            "backend.copy_op": "Copy",
            "backend.fused": "Fused graph_flops inline parted",
            "backend.kernel": "Kernel KernelFamily Refused Workspace",
            "backend.region": "Region reads_of",
            "backend.space": "HOST HostSpace Space",
            "backend.table": "Table",
            "formats.json_format": "from_json to_json",
            "formats.text": "parse",
            "model.arithmetic": "Arithmetic Operand arithmetic",
            "model.bodies": "has_effect map_bodies nested subgraphs",
            "model.control": "Branches Control Loop ReversedLoop",
            "model.dimension": "dimension dimension_names",
            "model.graph": "Graph Rule",
            "model.op": "Op Sample",
            "model.types": "ARRAY_DTYPES BITS Dimension FLOATS INTEGERS ITEM_BYTES ML_DTYPES"
            " SUB_BYTE Shape TensorType UNSIGNED compatible dtype_name integer_limits unify",
            "model.value": "Input Node Types Value lift producers",
            "model.where": "inherit scope",
            "passes.barrier": "OptimizationBarrier",
            "passes.pipeline": "Pass Pipeline Stage pipeline",
            "passes.sizes": "with_sizes",
            "passes.specialize": "body_for body_inputs infer_inputs result_types sizes_of"
            " specialize",
            "passes.verify": "verify",
        },
    )

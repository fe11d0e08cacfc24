"""Names of the graph, of sessions and of dtypes, and where their objects are."""

from byparts_tf_files.errors import CODES

_GRAPH = {
    "Graph": "graph.graph:Graph",
    "Operation": "graph.operation:Operation",
    "Tensor": "graph.operation:Tensor",
    "TensorShape": "byparts_tf_files.shape:TensorShape",
    "python.framework.tensor_shape.as_shape": "byparts_tf_files.shape:as_shape",
    "contrib.framework.get_name_scope": "graph.scopes:get_name_scope",
    "python.framework.ops.get_name_scope": "graph.scopes:get_name_scope",
    "Dimension": "byparts_tf_files.dimension:Dimension",
    "DType": "byparts_tf_files.dtypes:DType",
    "dtypes.DType": "byparts_tf_files.dtypes:DType",
    "as_dtype": "byparts_tf_files.dtypes:as_dtype",
    "dtypes.as_dtype": "byparts_tf_files.dtypes:as_dtype",
    "GraphKeys": "graph.collections:GraphKeys",
    "convert_to_tensor": "graph.convert:convert_to_tensor",
    "register_tensor_conversion_function": "graph.convert:register_tensor_conversion_function",
    "IndexedSlices": "graph.composites:IndexedSlices",
    "SparseTensor": "graph.composites:SparseTensor",
    "sparse.SparseTensor": "graph.composites:SparseTensor",
    "SparseTensorValue": "graph.composites:SparseTensorValue",
    "is_tensor": "graph.convert:is_tensor",
    "contrib.framework.is_tensor": "graph.convert:is_tensor",
    "get_default_graph": "graph.stack:get_default_graph",
    "reset_default_graph": "graph.stack:reset_default_graph",
    "get_static_value": "graph.static:static_value",
}
_SCOPES = (
    *("name_scope", "control_dependencies", "device", "colocate_with", "container", "init_scope"),
    *("add_to_collection", "add_to_collections", "get_collection", "get_collection_ref"),
    "set_random_seed",
)
_SESSIONS = {
    "Session": "running.session:Session",
    "InteractiveSession": "running.session:InteractiveSession",
    "get_default_session": "running.stack:get_default_session",
}
_DTYPES = (
    *("float16", "half", "bfloat16", "float32", "float64", "double", "int8", "int16", "int32"),
    *("int64", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128", "string"),
    *("resource", "variant", "qint8", "qint16", "qint32", "quint8", "quint16"),
)
_ERRORS = (
    *("OpError", "CancelledError", "UnknownError", "InvalidArgumentError", "NotFoundError"),
    *("DeadlineExceededError", "AlreadyExistsError", "PermissionDeniedError", "AbortedError"),
    *("ResourceExhaustedError", "FailedPreconditionError", "OutOfRangeError", "InternalError"),
    *("UnimplementedError", "UnavailableError", "DataLossError", "UnauthenticatedError"),
    *("exception_type_from_error_code", "error_code_from_exception_type", *CODES),
)
SYMBOLS = {
    **_GRAPH,
    **_SESSIONS,
    **{s: f"graph.scopes:{s}" for s in _SCOPES},
    **{p + s: f"byparts_tf_files.dtypes:{s}" for p in ("", "dtypes.") for s in _DTYPES},
    **{f"{p}bool": "byparts_tf_files.dtypes:bool_" for p in ("", "dtypes.")},
    **{
        f"python.framework.dtypes.{n}_ref": f"byparts_tf_files.dtypes:{n}_ref"
        for n in ("float32", "int32", "int64")
    },
    **{f"errors.{s}": f"byparts_tf_files.errors:{s}" for s in _ERRORS},
    "OpError": "byparts_tf_files.errors:OpError",
    "random.set_random_seed": "graph.scopes:set_random_seed",
}

"""Names of messages, files and checkpoints: where byparts-tf-files has them."""

_MESSAGES: dict[
    str, dict[str, tuple[str, ...]]
] = {  # module of its `messages`: TensorFlow's names, and the module it has them in
    "tensor": {
        "core.framework.tensor_pb2": ("TensorProto",),
        "core.framework.tensor_shape_pb2": ("TensorShapeProto",),
        "core.framework.tensor_slice_pb2": ("TensorSliceProto",),
        "core.framework.versions_pb2": ("VersionDef",),
    },
    "graph": {
        "core.framework.graph_pb2": ("GraphDef",),
        "core.framework.node_def_pb2": ("NodeDef",),
        "core.framework.attr_value_pb2": ("AttrValue", "NameAttrList"),
        "core.framework.op_def_pb2": ("OpDef", "OpList"),
        "core.framework.function_pb2": ("FunctionDef", "FunctionDefLibrary"),
    },
    "meta_graph": {
        "core.protobuf.meta_graph_pb2": (
            *("MetaGraphDef", "CollectionDef", "TensorInfo", "SignatureDef", "AssetFileDef"),
        ),
        "core.protobuf.saver_pb2": ("SaverDef",),
        "core.protobuf.saved_model_pb2": ("SavedModel",),
        "core.framework.variable_pb2": ("VariableDef", "SaveSliceInfoDef"),
        "core.protobuf.queue_runner_pb2": ("QueueRunnerDef",),
    },
    "summary": {
        "core.framework.summary_pb2": (
            *("Summary", "SummaryDescription", "SummaryMetadata", "HistogramProto"),
        ),
        "core.util.event_pb2": ("Event", "SessionLog", "LogMessage", "TaggedRunMetadata"),
    },
    "example": {
        "core.example.example_pb2": ("Example", "SequenceExample"),
        "core.example.feature_pb2": (
            *("Feature", "Features", "FeatureList", "FeatureLists"),
            *("BytesList", "FloatList", "Int64List"),
        ),
    },
    "checkpoint": {"train": ("CheckpointState",)},
    "config": {
        "core.protobuf.config_pb2": (
            *("ConfigProto", "GPUOptions", "GraphOptions", "OptimizerOptions"),
            *("RunOptions", "RunMetadata"),
        ),
        "core.protobuf.rewriter_config_pb2": ("RewriterConfig",),
        "core.protobuf.cluster_pb2": ("ClusterDef", "JobDef"),
        "core.protobuf.tensorflow_server_pb2": ("ServerDef",),
        "core.framework.step_stats_pb2": ("StepStats", "DeviceStepStats", "NodeExecStats"),
    },
}
_IN_TF = (
    *("GraphDef", "NodeDef", "NameAttrList", "AttrValue", "MetaGraphDef", "Summary", "Event"),
    *("HistogramProto", "SummaryMetadata", "SessionLog", "LogMessage", "ConfigProto"),
    *("GPUOptions", "GraphOptions", "OptimizerOptions", "RunOptions", "RunMetadata"),
    "TensorInfo",
)
_IN_TRAIN = (
    *("Example", "SequenceExample", "Feature", "Features", "FeatureList", "FeatureLists"),
    *("BytesList", "FloatList", "Int64List", "SaverDef", "QueueRunnerDef"),
    *("ClusterDef", "JobDef", "ServerDef"),
)
_IN_SUMMARY = (*("Summary", "Event", "SessionLog", "SummaryDescription", "TaggedRunMetadata"),)
_PLACES = {
    name: f"byparts_tf_files.messages.{module}:{name}"
    for module, files in _MESSAGES.items()
    for names in files.values()
    for name in names
}
_PB2 = {
    f"{file}.{name}": _PLACES[name]
    for files in _MESSAGES.values()
    for file, names in files.items()
    for name in names
}
_TENSORS = {
    name: f"byparts_tf_files.tensors:{name.rpartition('.')[2]}"
    for name in (
        *("make_tensor_proto", "make_ndarray", "contrib.util.make_tensor_proto"),
        *("contrib.util.make_ndarray", "io.make_tensor_proto"),
    )
}
_GFILE = {  # tf.gfile, tf.io.gfile, tensorflow.python.lib.io.file_io: the function here
    ("Exists", "exists", "file_exists"): "file_system:exists",
    ("IsDirectory", "isdir", "is_directory"): "file_system:is_directory",
    ("MkDir", "mkdir", "create_dir"): "file_system:make_directory",
    ("MakeDirs", "makedirs", "recursive_create_dir"): "file_system:make_directories",
    ("ListDirectory", "listdir", "list_directory"): "file_system:list_directory",
    ("Glob", "glob", "get_matching_files"): "file_system:matching_files",
    ("Walk", "walk", "walk"): "file_system:walk",
    ("Copy", "copy", "copy"): "file_system:copy",
    ("Rename", "rename", "rename"): "file_system:rename",
    ("Remove", "remove", "delete_file"): "file_system:remove",
    ("DeleteRecursively", "rmtree", "delete_recursively"): "file_system:delete_recursively",
    ("Stat", "stat", "stat"): "file_system:stat",
    ("GFile", "GFile", "FileIO"): "gfile:GFile",
    ("Open", "GFile", "FileIO"): "gfile:GFile",
    ("FastGFile", "GFile", "FileIO"): "gfile:GFile",
}
_FILE_IO = {
    **{f"gfile.{names[0]}": f"byparts_tf_files.{f}" for names, f in _GFILE.items()},
    **{f"python.platform.gfile.{names[0]}": f"byparts_tf_files.{f}" for names, f in _GFILE.items()},
    **{f"io.gfile.{names[1]}": f"byparts_tf_files.{f}" for names, f in _GFILE.items()},
    **{f"python.lib.io.file_io.{names[2]}": f"byparts_tf_files.{f}" for names, f in _GFILE.items()},
    "python.lib.io.file_io.read_file_to_string": "byparts_tf_files.gfile:read_file_to_string",
    "python.lib.io.file_io.write_string_to_file": "byparts_tf_files.gfile:write_string_to_file",
}
_RECORDS = {
    f"{place}.{name}": f"byparts_tf_files.records:{name}"
    for place in ("python_io", "io")
    for name in (
        *("TFRecordWriter", "TFRecordOptions", "TFRecordCompressionType", "tf_record_iterator"),
    )
}
_CHECKPOINTS = {
    **{
        f"train.{name}": f"byparts_tf_files.checkpoint_state:{name}"
        for name in (
            *("get_checkpoint_state", "latest_checkpoint", "update_checkpoint_state"),
            *("checkpoint_exists", "get_checkpoint_mtimes"),
        )
    },
    **{
        f"train.{name}": f"byparts_tf_files.checkpoint_reader:{name}"
        for name in ("load_checkpoint", "load_variable", "list_variables")
    },
    **{
        f"contrib.framework.{name}": f"byparts_tf_files.checkpoint_reader:{name}"
        for name in ("load_checkpoint", "load_variable", "list_variables")
    },
    "train.generate_checkpoint_state_proto": "byparts_tf_files.checkpoint_state:state_proto",
    **{
        f"{place}.NewCheckpointReader": "byparts_tf_files.checkpoint_reader:new_checkpoint_reader"
        for place in ("train", "python.pywrap_tensorflow")
    },
    "train.remove_checkpoint": "byparts_tf_files.write_checkpoint:remove_checkpoint",
}
_EVENTS = {
    "summary.FileWriter": "byparts_tf_files.event_file:FileWriter",
    "summary.FileWriterCache": "byparts_tf_files.event_file:FileWriterCache",
    "train.SummaryWriter": "byparts_tf_files.event_file:FileWriter",
    "train.summary_iterator": "byparts_tf_files.event_file:summary_iterator",
    **{
        f"saved_model.{name}": "byparts_tf_files.saved_model:contains_saved_model"
        for name in (
            *("maybe_saved_model_directory", "contains_saved_model"),
            "loader.maybe_saved_model_directory",
        )
    },
    "python.pywrap_tensorflow.EventsWriter": "byparts_tf_files.event_file:EventsWriter",
}
SYMBOLS = {
    "protobuf.config_pb2.ConfigProto": _PLACES["ConfigProto"],
    **{name: _PLACES[name] for name in _IN_TF},
    **{f"train.{name}": _PLACES[name] for name in _IN_TRAIN},
    **{f"summary.{name}": _PLACES[name] for name in _IN_SUMMARY},
    **_PB2,
    **_TENSORS,
    **_FILE_IO,
    **_RECORDS,
    **_CHECKPOINTS,
    **_EVENTS,
}

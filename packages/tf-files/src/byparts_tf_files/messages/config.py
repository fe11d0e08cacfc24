"""Messages to and from a session: `config.proto`, `cluster.proto`, `step_stats.proto`."""

from byparts_tf_files.enums import Enum
from byparts_tf_files.fields import many, mapped, one
from byparts_tf_files.message import Message
from byparts_tf_files.messages.graph import GraphDef


class GPUOptions(Message):
    class Experimental(Message):
        class VirtualDevices(Message):
            memory_limit_mb = many(1, "float")
            priority = many(2, "int32")

        virtual_devices = many(1, VirtualDevices)
        use_unified_memory = one(2, "bool")
        num_dev_to_dev_copy_streams = one(3, "int32")
        collective_ring_order = one(4, "string")

    per_process_gpu_memory_fraction = one(1, "double")
    allow_growth = one(4, "bool")
    allocator_type = one(2, "string")
    deferred_deletion_bytes = one(3, "int64")
    visible_device_list = one(5, "string")
    polling_active_delay_usecs = one(6, "int32")
    polling_inactive_delay_msecs = one(7, "int32")
    force_gpu_compatible = one(8, "bool")
    experimental = one(9, Experimental)


class OptimizerOptions(Message):
    Level = Enum("Level", L1=0, L0=-1)
    GlobalJitLevel = Enum("GlobalJitLevel", DEFAULT=0, OFF=-1, ON_1=1, ON_2=2)
    L1, L0, DEFAULT, OFF, ON_1, ON_2 = 0, -1, 0, -1, 1, 2

    do_common_subexpression_elimination = one(1, "bool")
    do_constant_folding = one(2, "bool")
    max_folded_constant_in_bytes = one(6, "int64")
    do_function_inlining = one(4, "bool")
    opt_level = one(3, Level)
    global_jit_level = one(5, GlobalJitLevel)


class RewriterConfig(Message):
    Toggle = Enum("Toggle", DEFAULT=0, ON=1, OFF=2, AGGRESSIVE=3)
    MemOptType = Enum(
        "MemOptType",
        DEFAULT_MEM_OPT=0,
        NO_MEM_OPT=1,
        MANUAL=2,
        HEURISTICS=3,
        SWAPPING_HEURISTICS=4,
        RECOMPUTATION_HEURISTICS=5,
        SCHEDULING_HEURISTICS=6,
    )
    DEFAULT, ON, OFF, AGGRESSIVE = 0, 1, 2, 3
    DEFAULT_MEM_OPT, NO_MEM_OPT, MANUAL, HEURISTICS = 0, 1, 2, 3
    SWAPPING_HEURISTICS, RECOMPUTATION_HEURISTICS, SCHEDULING_HEURISTICS = 4, 5, 6

    layout_optimizer = one(1, Toggle)
    disable_model_pruning = one(2, "bool")
    constant_folding = one(3, Toggle)
    memory_optimization = one(4, MemOptType)
    arithmetic_optimization = one(7, Toggle)
    dependency_optimization = one(8, Toggle)
    loop_optimization = one(9, Toggle)
    function_optimization = one(10, Toggle)
    debug_stripper = one(11, Toggle)
    shape_optimization = one(13, Toggle)
    remapping = one(14, Toggle)
    scoped_allocator_optimization = one(15, Toggle)
    pin_to_host_optimization = one(18, Toggle)
    implementation_selector = one(22, Toggle)
    auto_mixed_precision = one(23, Toggle)
    disable_meta_optimizer = one(19, "bool")


class GraphOptions(Message):
    enable_recv_scheduling = one(2, "bool")
    optimizer_options = one(3, OptimizerOptions)
    build_cost_model = one(4, "int64")
    build_cost_model_after = one(9, "int64")
    infer_shapes = one(5, "bool")
    place_pruned_graph = one(6, "bool")
    enable_bfloat16_sendrecv = one(7, "bool")
    timeline_step = one(8, "int32")
    rewrite_options = one(10, RewriterConfig)


class ThreadPoolOptionProto(Message):
    num_threads = one(1, "int32")
    global_name = one(2, "string")


class RPCOptions(Message):
    use_rpc_for_inprocess_master = one(1, "bool")
    compression_algorithm = one(2, "string")
    compression_level = one(3, "int32")


class JobDef(Message):
    name = one(1, "string")
    tasks = mapped(2, "int32", "string")


class ClusterDef(Message):
    job = many(1, JobDef)


class ConfigProto(Message):
    class Experimental(Message):
        collective_group_leader = one(1, "string")
        executor_type = one(3, "string")
        recv_buf_max_chunk = one(4, "int32")
        use_numa_affinity = one(5, "bool")
        collective_deterministic_sequential_execution = one(6, "bool")
        collective_nccl = one(7, "bool")
        share_session_state_in_clusterspec_propagation = one(8, "bool")
        disable_thread_spinning = one(9, "bool")

    device_count = mapped(1, "string", "int32")
    intra_op_parallelism_threads = one(2, "int32")
    inter_op_parallelism_threads = one(5, "int32")
    use_per_session_threads = one(9, "bool")
    session_inter_op_thread_pool = many(12, ThreadPoolOptionProto)
    placement_period = one(3, "int32")
    device_filters = many(4, "string")
    gpu_options = one(6, GPUOptions)
    allow_soft_placement = one(7, "bool")
    log_device_placement = one(8, "bool")
    graph_options = one(10, GraphOptions)
    operation_timeout_in_ms = one(11, "int64")
    rpc_options = one(13, RPCOptions)
    cluster_def = one(14, ClusterDef)
    isolate_session_state = one(15, "bool")
    experimental = one(16, Experimental)


class ServerDef(Message):
    cluster = one(1, ClusterDef)
    job_name = one(2, "string")
    task_index = one(3, "int32")
    default_session_config = one(4, ConfigProto)
    protocol = one(5, "string")


class RunOptions(Message):
    TraceLevel = Enum("TraceLevel", NO_TRACE=0, SOFTWARE_TRACE=1, HARDWARE_TRACE=2, FULL_TRACE=3)
    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3

    trace_level = one(1, TraceLevel)
    timeout_in_ms = one(2, "int64")
    inter_op_thread_pool = one(3, "int32")
    output_partition_graphs = one(5, "bool")
    report_tensor_allocations_upon_oom = one(7, "bool")


class NodeExecStats(Message):
    node_name = one(1, "string")
    all_start_micros = one(2, "int64")
    op_start_rel_micros = one(3, "int64")
    op_end_rel_micros = one(4, "int64")
    all_end_rel_micros = one(5, "int64")
    timeline_label = one(8, "string")
    scheduled_micros = one(9, "int64")
    thread_id = one(10, "uint32")


class DeviceStepStats(Message):
    device = one(1, "string")
    node_stats = many(2, NodeExecStats)
    thread_names = mapped(3, "uint32", "string")


class StepStats(Message):
    dev_stats = many(1, DeviceStepStats)


class RunMetadata(Message):
    step_stats = one(1, StepStats)
    partition_graphs = many(3, GraphDef)

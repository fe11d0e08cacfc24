"""Records files that TensorFlow writes, for the tests of tf-files' readers.

    python packages/tf-files/tests/tensorflow_files.py packages/tf-files/tests/recorded

Run by hand in an environment with `tensorflow-cpu` (recorded with 2.21, `tensorflow.compat.v1`) and
`cramjam` (for data packed by snappy); neither is needed by the tests.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from shutil import rmtree
from typing import Any

import numpy as np

SEED = 5
KINDS = ("float32", "float64", "int32", "uint8", "int16", "int8", "int64", "bool", "float16")
OTHERS = ("complex64", "complex128", "uint16", "uint32", "uint64")


def main() -> None:
    """Command line: the folder."""
    tf: Any = import_module("tensorflow.compat.v1")
    tf.disable_v2_behavior()
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for version, sharded in ((1, False), (1, True), (2, False), (2, True)):
        checkpoint(tf, folder, version, sharded)
    graph(tf, folder)
    saved_model(tf, folder)
    records(tf, folder)
    summaries(tf, folder)
    messages(tf, folder)
    snappy(folder)


def checkpoint(tf: Any, folder: Path, version: int, sharded: bool) -> None:
    """Variables of all kinds, whole and in parts, and their values in an .npz."""
    name = f"v{version}{'s' if sharded else ''}"
    random = np.random.default_rng(SEED)
    tf.reset_default_graph()
    tf.set_random_seed(SEED)
    variables = {}
    for i, kind in enumerate((*KINDS, *OTHERS)):
        numbers = random.normal(size=(2, 3)) * 50
        if version == 1 and kind.startswith("uint") and kind != "uint8":
            continue  # its writer has none of these
        value = numbers > 0 if kind == "bool" else (np.abs(numbers) if "u" in kind else numbers)
        value = (value + 1j * value[::-1]) if "complex" in kind else value
        with tf.device(f"/cpu:{i % 2}"):
            variables[kind] = tf.Variable(value.astype(kind), name=f"kinds/{kind}")
    variables["scalar"] = tf.Variable(2.5, name="scalar")
    variables["empty"] = tf.Variable(np.zeros((0, 3), np.float32), name="empty")
    texts = [b"", b"abc", b"\0\xff" * 70, "é".encode()]
    tf.Variable(texts, name="texts")
    if version == 2:
        variables["bfloat16"] = tf.Variable(tf.constant([1.5, -2.0], tf.bfloat16), name="half")
    rows = tf.fixed_size_partitioner(3, axis=0)
    columns = tf.fixed_size_partitioner(2, axis=1)
    normal = tf.random_normal_initializer()
    uniform = tf.random_uniform_initializer(0, 99, dtype=tf.int32)
    in_rows = tf.get_variable("in_rows", [7, 4], initializer=normal, partitioner=rows)
    in_columns = tf.get_variable("in_columns", [3, 5], tf.int32, uniform, partitioner=columns)
    saver = tf.train.Saver(write_version=version, sharded=sharded)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, str(folder / f"{name}.ckpt"), 7, write_meta_graph=False)
        found = {v.op.name: v for v in variables.values()}
        found["in_rows"] = tf.convert_to_tensor(in_rows)
        found["in_columns"] = tf.convert_to_tensor(in_columns)
        values = session.run(found)
    half = values.pop("half", None)
    if half is not None:
        values["half"] = half.astype(np.float32)
    np.savez_compressed(
        folder / f"{name}.npz", **{k.replace("/", "|"): v for k, v in values.items()}
    )


def graph(tf: Any, folder: Path) -> None:
    """A graph of several kinds of attributes, as bytes, as text and with its collections."""
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 4, 4, 1], name="x")
    kernel = tf.get_variable("kernel", [3, 3, 1, 2], initializer=tf.zeros_initializer())
    y = tf.nn.conv2d(x, kernel, [1, 2, 2, 1], "SAME", name="y")
    with tf.control_dependencies([y]):
        tf.identity(tf.constant([b"a", b"\xff\n'\""]), name="texts")
    tf.cond(tf.constant(True), lambda: tf.constant(1.5), lambda: tf.constant(2.5))
    tf.constant(np.arange(6, dtype=np.float16).reshape(2, 3), name="half")
    tf.fill([2, 2], 7.0, name="filled")
    definition = tf.get_default_graph().as_graph_def(add_shapes=True)
    (folder / "graph.pb").write_bytes(definition.SerializeToString(deterministic=True))
    tf.train.write_graph(definition, str(folder), "graph.pbtxt")
    tf.train.export_meta_graph(str(folder / "graph.meta"), clear_extraneous_savers=True)


def saved_model(tf: Any, folder: Path) -> None:
    """y = x * w, ready to be served."""
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    w = tf.get_variable("w", initializer=np.array([1, 2, 3], np.float32), use_resource=False)
    rmtree(folder / "saved_model", ignore_errors=True)
    with tf.Session() as session:
        session.run(w.initializer)
        tf.saved_model.simple_save(
            session, str(folder / "saved_model"), {"x": x}, {"y": tf.multiply(x, w, name="y")}
        )


def records(tf: Any, folder: Path) -> None:
    """The same examples in a plain file and in compressed ones."""
    kinds = {"plain": "", "gzip": "GZIP", "zlib": "ZLIB"}
    for name, kind in kinds.items():
        options = tf.io.TFRecordOptions(compression_type=kind)
        with tf.io.TFRecordWriter(str(folder / f"{name}.tfrecord"), options) as writer:
            for k in range(4):
                writer.write(example(tf, k).SerializeToString(deterministic=True))


def example(tf: Any, k: int) -> Any:
    """The k-th example."""
    made = tf.train.Example()
    feature = made.features.feature
    feature["i"].int64_list.value.append(k - 2)
    feature["many"].int64_list.value.extend([n * 10**k for n in range(-50, 50)])
    feature["f"].float_list.value.extend([k * 0.5, 0.1])
    feature["s"].bytes_list.value.extend([b"x" * k, b"\xff"])
    return made


def summaries(tf: Any, folder: Path) -> None:
    """What the summary operations make of arrays, and a file of events."""
    tf.reset_default_graph()
    random = np.random.default_rng(SEED)
    numbers = np.concatenate([random.normal(size=300), [0, 0, 1e-13, -1e-13, 1e25, -1e25, 5e-12]])
    signed = random.normal(size=(2, 3, 4, 3)).astype(np.float32)
    signed[0, 0, 0, 1] = np.nan
    grey = random.integers(0, 256, (1, 5, 6, 1)).astype(np.uint8)
    sound = random.uniform(-1.2, 1.2, (2, 5, 2)).astype(np.float32)
    operations = {
        "numbers": tf.summary.histogram("numbers", numbers),
        "none": tf.summary.histogram("none", np.zeros(0, np.float32)),
        "signed": tf.summary.image("signed", signed),
        "positive": tf.summary.image("positive", np.abs(signed), max_outputs=1),
        "black": tf.summary.image("black", np.abs(signed) * 0),
        "grey": tf.summary.image("grey", grey),
        "text": tf.summary.text("text", tf.constant("*hi*")),
        "sound": tf.summary.audio("sound", sound, 22050),
        "scalar": tf.summary.scalar("scalar", 3.25),
    }
    with tf.Session() as session:
        made = session.run(operations)
    for old in folder.glob("events.out.*"):
        old.unlink()
    with tf.summary.FileWriter(str(folder), tf.get_default_graph()) as writer:
        for step, summary in enumerate(made.values()):
            writer.add_summary(summary, step)
    (written,) = folder.glob("events.out.*")
    written.rename(folder / "events.out.tfevents.recorded")
    arrays: dict[str, Any] = {f"summary {k}": np.frombuffer(v, np.uint8) for k, v in made.items()}
    arrays |= {"numbers": numbers, "signed": signed, "grey": grey, "sound": sound}
    np.savez_compressed(folder / "summaries.npz", **arrays)


def messages(tf: Any, folder: Path) -> None:
    """Messages as bytes and as text."""
    attributes: Any = import_module("tensorflow.core.framework.attr_value_pb2")
    states: Any = import_module("tensorflow.python.training.checkpoint_state_pb2")
    config = tf.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0, "CPU": 3})
    config.gpu_options.per_process_gpu_memory_fraction = 0.3
    attribute = attributes.AttrValue()
    attribute.list.f.extend([0.1, 1.0, 1e10, 3.4028234663852886e38, float("inf"), float("nan")])
    attribute.list.b.extend([True, False])
    attribute.list.type.extend([1, 19, 101, 77])
    attribute.list.i.extend([-1, 1 << 40])
    attribute.list.s.append(bytes(range(256)))
    state = states.CheckpointState(model_checkpoint_path="é\n\"'\\")
    state.all_model_checkpoint_timestamps.extend([1.5, 1e-300, 1 / 3])
    value = tf.Summary.Value(tag="zero", simple_value=0.0)
    made = (config, attribute, state, tf.Summary(value=[value]), example(tf, 1))
    rows = [
        [type(m).__name__, m.SerializeToString(deterministic=True).hex(), text_of(m)] for m in made
    ]
    (folder / "messages.json").write_text(json.dumps(rows, indent=1))


def text_of(message: Any) -> str:
    """As protobuf's own Python prints it."""
    text: str = import_module("google.protobuf.text_format").MessageToString(message, as_utf8=False)
    return text


def snappy(folder: Path) -> None:
    """Data packed by another's snappy: what repeats near and far, and what does not."""
    cramjam: Any = import_module("cramjam")
    random = np.random.default_rng(SEED)
    piece = random.bytes(3000)
    plain = b"a" * 1000 + piece + b"abc" * 200 + piece[:2000] + random.bytes(70) + b"\0" * 70000
    packed = bytes(cramjam.snappy.compress_raw(plain))
    arrays: dict[str, Any] = {
        "plain": np.frombuffer(plain, np.uint8),
        "packed": np.frombuffer(packed, np.uint8),
    }
    np.savez_compressed(folder / "snappy.npz", **arrays)


if __name__ == "__main__":
    main()

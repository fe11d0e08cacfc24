"""A stranger's distribution, installed as a wheel: found, tested by the kit, trained with."""

from __future__ import annotations

import os
import re

import pytest

from byparts_opset import OPS
from third_party.environment import HERE, Environment

# A quarter of the ops: all of them take minutes (`hatch run test-all-ops`).
_EVERY = 1 if "BYPARTS_ALL_OPS" in os.environ else 4
SOME = (
    *("-k", "test_kernel or test_also"),
    *(word for name in sorted(OPS)[::_EVERY] for word in ("--byparts-op", name)),
)


@pytest.mark.long
def test_its_own_tests_pass(acme: Environment) -> None:
    """Training, its memory, its pass, planner, front-end: in the environment it is installed in."""
    options = ("-q", "-W", "error", "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null")
    done = acme.run("-m", "pytest", *options, HERE / "acme-byparts-npu" / "tests")

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]


@pytest.mark.long
def test_the_kit_finds_nothing_wrong(acme: Environment) -> None:
    """Those that the NPU lacks are "-", and none is on a list of exceptions."""
    done = acme.run("-m", "byparts_graph_ir", "check", "npu", *SOME, "--byparts-op", "mul_add")
    (right, of, wrong) = re.findall(r"(\d+) of (\d+) ops right, .* (\d+) wrong", done.stdout)[0]

    assert done.returncode == 0, done.stdout[-5000:]
    assert int(right) > 8 and int(of) > 30 and wrong == "0"
    row = r"^mul_add +ok +ok +ok +ok +- +- +some +- +some +some +some +some$"
    assert re.search(row, done.stdout, re.MULTILINE)
    assert len(re.findall(r"^also: .* ok$", done.stdout, re.MULTILINE)) == 6


def test_its_ops_are_tried_on_every_backend(acme: Environment) -> None:
    """NumPy has no kernel for a stranger's op, and what the op is made of."""
    done = acme.run("-m", "byparts_graph_ir", "check", "numpy", "--byparts-op", "mul_add")

    assert done.returncode == 0, done.stdout[-5000:]
    assert "1 of 1 ops right, 1 of them decomposed; 0 wrong" in done.stdout


@pytest.mark.long
def test_generated_c_passes_its_own_tests(acme_c: Environment) -> None:
    """A backend of compiled regions, on nothing but the public contract."""
    options = ("-q", "-W", "error", "-p", "no:cacheprovider", "--noconftest", "-c", "/dev/null")
    done = acme_c.run("-m", "pytest", *options, HERE / "acme-byparts-c" / "tests")

    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-3000:]


@pytest.mark.long
def test_the_kit_finds_nothing_wrong_with_generated_c(acme_c: Environment) -> None:
    done = acme_c.run("-m", "byparts_graph_ir", "check", "c", *SOME)
    (right, wrong) = re.findall(r"(\d+) of \d+ ops right, .* (\d+) wrong", done.stdout)[0]

    assert done.returncode == 0, done.stdout[-5000:]
    assert int(right) > 12 and wrong == "0"
    assert len(re.findall(r"^also: .* ok$", done.stdout, re.MULTILINE)) == 6


def test_the_listing_shows_what_it_brings(acme: Environment) -> None:
    said = acme.run("-m", "byparts_graph_ir", "parts", "--strict")

    assert said.returncode == 0
    assert re.search(
        r"^acme-npu +1\.2\.0 +ok +[\d.]+ +ops: acme; passes: join-mul-add; planners: shelves; "
        r"backends: npu; frontends: acme-layers$",
        said.stdout,
        re.MULTILINE,
    )


def test_a_stranger_adds_names_to_tensorflow(acme_tf: Environment) -> None:
    """Functions, a namespace that is imported, and an operation that a file names."""
    done = acme_tf.run("-c", _SWISH)

    assert done.returncode == 0, done.stderr
    assert done.stdout == "AcmeSwish [0.0, 0.731, 1.762] [0.5]\n"


_SWISH = """
import byparts_frontend_tf as tf
from byparts_frontend_tf.contrib.acme import swish

x = tf.placeholder(tf.float32, [None], "x")
y = swish(x, name="y")
assert tf.contrib.acme.swish is swish
slope, = tf.gradients(y, x)
saved = tf.get_default_graph().as_graph_def()
with tf.Session() as session:
    values, slopes = session.run([y, slope], {x: [0.0, 1.0, 2.0]})
with tf.Graph().as_default(), tf.Session() as session:
    (again,) = tf.import_graph_def(saved, return_elements=["y:0"], name="")
    assert (session.run(again, {"x:0": [0.0, 1.0, 2.0]}) == values).all()
    print(again.op.type, [round(v, 3) for v in values.tolist()], slopes.tolist()[:1])
"""

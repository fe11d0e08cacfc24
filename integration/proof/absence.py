"""What is not here is said in a sentence that names it and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from byparts_graph_ir import FormatError, Graph, Input, MissingRule, TensorType, from_json
from byparts_graph_ir.parts.hub import PartError, parts
from byparts_graph_ir.parts.install import install_command
from proof.command import byparts
from proof.own_op import Blend
from proof.spec import Check, Spec

SENTENCES: list[tuple[Callable[[Spec], bool], Check]] = []


def checks(spec: Spec) -> Iterator[Check]:
    """Those whose part is absent, and whose others are not."""
    yield from (check for applies, check in SENTENCES if applies(spec))
    for kind in ("backends", "frontends"):
        for part, record in parts.records(kind):
            if set(record.needs) & set(spec.lacks):
                yield _needs(kind, record.name, part.distribution, spec.lacks)


def where(applies: Callable[[Spec], bool]) -> Callable[[Check], Check]:
    """Decorator: the sentence is due in these combinations."""

    def register(check: Check) -> Check:
        SENTENCES.append((applies, check))
        return check

    return register


@where(lambda spec: not spec.has("opset"))
def without_ops_a_graph_names_what_to_install() -> None:
    x = '{"inputs": [{"name": "x", "type": "f32[2]"}], "nodes": [{"op": "tanh", "inputs": [0]}]'
    text = f'{{"format": "byparts-graph", "version": 1, "graphs": [{x}, "outputs": [1]}}]}}'
    how = re.escape(install_command("byparts-opset"))
    expect(FormatError, rf"unknown op 'tanh'; .*{how}", from_json, text)


@where(lambda spec: not spec.has("autodiff"))
def without_autodiff_gradients_are_missed_by_name() -> None:
    expect(PartError, r"no pass 'gradients'; installed: ", parts.get, "passes", "gradients")


@where(lambda spec: not spec.has("optimize"))
def without_optimize_its_passes_are_missed_by_name() -> None:
    expect(PartError, r"no pass 'optimize'; installed: ", parts.get, "passes", "optimize")


@where(lambda spec: not spec.has("memplan"))
def without_memplan_its_planner_is_missed_by_name() -> None:
    expect(PartError, r"no planner 'greedy'; installed: none", parts.get, "planners", "greedy")


@where(lambda spec: not spec.has("recompute"))
def without_recompute_its_pass_is_missed_by_name() -> None:
    expect(PartError, r"no pass 'rematerialize'; installed: ", parts.get, "passes", "rematerialize")


@where(lambda spec: not any(p.startswith("kernels-") for p in spec.parts))
def without_kernels_auto_says_what_to_install() -> None:
    how = re.escape(install_command("byparts-kernels-numpy"))
    said = rf"no backend starts:\n  none is installed: {how}"
    expect(PartError, said, parts.backend)


@where(lambda spec: not spec.has("conformance"))
def without_the_kit_check_says_what_to_install() -> None:
    done = byparts("check", "numpy")
    how = install_command("byparts-conformance")
    said = f"; it comes with byparts-conformance: {how}\n"
    assert done.stderr.startswith("byparts: no command 'check'; there are parts, new"), done.stderr
    assert (done.returncode, done.stderr.endswith(said)) == (2, True), done.stderr


@where(lambda spec: spec.has("runtime") and not spec.has("kernels-numpy"))
def the_runtime_names_the_backend_that_is_not_here() -> None:
    expect(PartError, r"no backend 'numpy'; installed: ", _runtime().build, _blend())


@where(lambda spec: spec.has("runtime") and not spec.has("memplan") and _host(spec))
def the_runtime_names_the_planner_that_is_not_here() -> None:
    (name, *_) = _host_backends()
    x = Input(TensorType("f32", (2,)), None, "x")
    build = _runtime().build
    said = r"no planner 'greedy'; installed: none"
    expect(PartError, said, build, Graph.of([x], [x]), backends=(name,), planner="greedy")


@where(lambda spec: spec.has("runtime") and not spec.has("weights"))
def a_store_names_the_part_that_saves_it() -> None:
    how = re.escape(install_command("byparts-weights"))
    said = f"files of arrays need byparts-weights: {how}"
    expect(PartError, said, _runtime().Store().save, "never.npz")


@where(lambda spec: spec.has("runtime", "opset") and not spec.has("optimize") and _host(spec))
def without_optimize_an_op_without_kernel_names_the_part_that_decomposes() -> None:
    (name, *_) = _host_backends()
    said = r"no kernel for Blend on \(f32\[2\], f32\[2\]\); tried"
    error = expect(MissingRule, said, _runtime().build, _blend(), backends=(name,))
    told = f"{error} {getattr(error, '__notes__', '')}"  # Python 3.10 has notes in the message
    how = install_command("byparts-optimize")
    assert f"byparts-optimize decomposes it: {how}" in told, told


@where(lambda spec: spec.has("frontend-tf") and not spec.has("kernels-numpy"))
def tensorflow_without_kernels_names_the_backend() -> None:
    tf = import_module("byparts_frontend_tf")
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        run = tf.Session(backends=("numpy",)).run
        expect(Exception, r"no backend 'numpy'; installed: ", run, x + 1.0, {x: 1.0})


@where(lambda spec: spec.has("frontend-tf") and not spec.has("tf-keras"))
def a_name_of_tensorflow_names_the_part_that_gives_it() -> None:
    how = re.escape(install_command("byparts-tf-keras"))
    said = f"tf.keras is in byparts-tf-keras, which is not installed: {how}"
    expect(AttributeError, said, getattr, import_module("byparts_frontend_tf"), "keras")


def _needs(kind: str, name: str, distribution: str, lacks: tuple[str, ...]) -> Check:
    def what_is_provided_says_which_package_it_needs() -> None:
        (lacking,) = lacks
        said = rf"'{name}' of {distribution} needs {lacking}: pip install {lacking}"
        expect(PartError, said, parts.get, kind, name)

    return what_is_provided_says_which_package_it_needs


def expect(
    kind: type[Exception], said: str, call: Callable[..., Any], *given: Any, **named: Any
) -> Exception:
    """The error that the call raises, which says this: `pytest.raises`, where pytest is absent."""
    found = _raised(kind, call, *given, **named)
    assert found is not None, f"no {kind.__name__}"
    assert re.search(said, str(found)), f"says {str(found)!r}, not {said!r}"
    return found


def _raised(
    kind: type[Exception], call: Callable[..., Any], *given: Any, **named: Any
) -> Exception | None:
    try:
        call(*given, **named)
    except kind as error:
        return error
    return None


def _blend() -> Graph:
    x, y = (Input(TensorType("f32", (2,)), None, name) for name in "xy")
    return Graph.of([x, y], [Blend()(x, y)])


def _runtime() -> Any:
    return import_module("byparts_runtime")


def _host(spec: Spec) -> bool:
    return not spec.lacks and bool(_host_backends())


def _host_backends() -> list[str]:
    records = (record for _, record in parts.records("backends"))
    return [r.name for r in records if getattr(r, "space", "host") == "host"]

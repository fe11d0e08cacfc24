"""Exercise 4: what the regions of `regions(graph, wants)` must be."""

import numpy as np

import byparts_opset as ops
from byparts_autodiff import gradients
from byparts_graph_ir import BackendError, Fused, Graph, Input, Pass, Table, TensorType, parse
from byparts_graph_ir.backend.backend import Backend
from byparts_graph_ir.errors import PartError
from byparts_graph_ir.parts.hub import parts
from byparts_optimize import optimize
from byparts_runtime import build

CHAIN = "%a = mul(%x, %y) %b = add(%a, %y) %c = tanh(%b) return %c"
AROUND = "%a = mul(%x, %y) %b = matmul(%a, %x) %c = add(%a, %b) return %c"
SHARED = "%a = exp(%x) %b = sin(%a) %c = cos(%a) %d = matmul(%b, %c) return %d, %a"


def wants(node):
    return node.op.pattern == "elementwise" and node.inputs != ()


def check(student, graph):
    """The regions, if rules 1 to 3 hold."""
    regions, home = student.regions(graph, wants), {}
    for i, nodes in enumerate(regions):
        for node in nodes:
            assert wants(node), f"{shown(node)} is in a region and is not wanted"
            assert node not in home, f"{shown(node)} is in 2 regions: each kernel would compute it"
            home[node] = i
    missing = [shown(n) for n in graph.nodes if wants(n) and n not in home]
    assert not missing, f"{missing[0]} is wanted, and in no region; one alone is a region of one"
    for nodes in regions:
        assert len(connected(nodes)) == len(nodes), (
            f"{list(map(shown, nodes))} is one region, and not connected: nothing is gained"
        )
        assert not (by := way_back(graph, nodes, regions)), (
            f"{list(map(shown, nodes))} cannot be one kernel: a way leaves the region by {by} and comes back"
        )
    return regions


def test_a_chain(student):
    """Three nodes one behind the other are one region."""
    regions = check(student, parsed(CHAIN))
    assert len(regions) == 1, f"mul, add and tanh are one kernel; yours makes {len(regions)} of them"


def test_a_way_around(student):
    """Two nodes with a matmul between them are two regions."""
    check(student, parsed(AROUND))


def test_several_readers(student):
    """A value with several readers is no border."""
    check_few(student, parsed(SHARED))


def test_a_training_step(student):
    """The step of a network has as few kernels as can be."""
    check_few(student, optimize(step()[0]))


def test_in_build(student):
    """A backend that joins what you say runs fewer kernels, and gives the same numbers."""
    graph, arrays = step()
    table = Table("kernel")
    table.on(Fused)(evaluated)
    plain = build(graph)
    program = build(graph, backends=(joining(student, parts.backend("numpy"), table), "numpy"))
    kernels = [len(p.steps) for p in (plain, program)]
    assert kernels[1] < kernels[0], f"{kernels[0]} kernels without your regions, {kernels[1]} with them"
    for a, b in zip(plain(*arrays), program(*arrays), strict=True):
        assert np.allclose(a, b, atol=1e-6), f"a result is {b}, and was {a} without regions"


def show(student):
    """The count of kernels in generated code, where there is a compiler."""
    graph, arrays = step()
    try:
        native = parts.backend("native")
        program = build(graph, backends=(joining(student, native, native.kernels), "numpy"))
    except (PartError, BackendError) as error:
        return f"  not tried in generated code: {error}"
    program(*arrays)
    fused = sum(type(s.node.op) is Fused for s in program.steps)
    alone = len(build(graph).steps)
    return f"  {len(program.steps)} kernels instead of {alone}, {fused} of them C for your regions"


def check_few(student, graph):
    regions = check(student, graph)
    for i, a in enumerate(regions):
        for b in regions[:i]:
            both = [*a, *b]
            others = [c for c in regions if c is not a and c is not b]
            if len(connected(both)) == len(both) and not way_back(graph, both, others):
                raise AssertionError(
                    f"{list(map(shown, b))} and {list(map(shown, a))} could be one kernel: they are "
                    "connected, and no path leaves them and comes back"
                )


def connected(nodes):
    todo, seen = [nodes[0]], {nodes[0]}
    while todo:
        node = todo.pop()
        for other in nodes:
            if other not in seen and (reads(node, other) or reads(other, node)):
                seen.add(other)
                todo.append(other)
    return seen


def reads(a, b):
    return any(v.node is b for v in a.inputs)


def way_back(graph, region, regions):
    """The node by which a way leaves the region and comes back, through kernels as a whole, or ""."""
    home = {n: nodes for nodes in (*([n] for n in graph.nodes), *regions) for n in nodes}
    first = [n for n in graph.nodes if n not in region and any(v.node in region for v in n.inputs)]
    for begin in first:
        behind = set(home[begin])
        for _ in regions:  # a kernel can come before another one in the order, and run after it
            for node in graph.nodes:
                if any(v.node in behind for v in node.inputs):
                    behind.update(home[node] if node not in region else [node])
        if not behind.isdisjoint(region):
            return shown(begin)
    return ""


def joining(student, backend, kernels):
    """The backend, which wants elementwise nodes and joins those of one region of the student."""
    home = {}

    def look(graph):
        home.update({n: i for i, nodes in enumerate(student.regions(graph, wants)) for n in nodes})
        return graph

    def joins(a, b):
        return a.joined(b) if home[a.nodes[0]] == home[b.nodes[0]] else None

    facts = {"wants": wants, "joins": joins, "passes": (Pass("look", look),)}
    return Backend("yours", backend.view, kernels, around=backend.around, **facts)


def evaluated(op, inputs, outputs):
    def run():
        for a, b in zip(outputs, op.evaluate(*inputs), strict=True):
            a[...] = b

    return run


def parsed(text):
    typed = text.replace(" =", ": f32[2,2] =")
    return parse(f"(%x: f32[2,2], %y: f32[2,2]) {{ {typed} }}")


def shown(node):
    return f"{node.op.name} {node.outputs[0].type}"


def step():
    shapes = {"x": (16, 8), "t": (16, 2), "w": (8, 32), "v": (32, 2)}
    x, t, w, v = (Input(TensorType("f32", s), name=name) for name, s in shapes.items())
    loss = ops.mean(ops.square(ops.tanh(ops.sigmoid(x @ w) * 2.0 @ v) - t))
    news = [u - 0.1 * du for u, du in zip((w, v), gradients(loss, (w, v)), strict=True)]
    random = np.random.default_rng(0)
    arrays = [random.normal(size=s).astype("f4") for s in shapes.values()]
    return Graph.of((x, t, w, v), (loss, *news)), arrays

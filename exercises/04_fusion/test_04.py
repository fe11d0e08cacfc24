from byparts import autodiff, ops, optimize
from byparts_graph_ir import Graph, parse
from byparts_graph_ir.parts.hub import parts
from byparts_runtime import build
from exercise import same, values
from regions import check_few, check_regions, evaluated, generated, joining


def wants(node):
    return node.op.pattern == "elementwise" and node.inputs != ()


def check(student, graph, few=True):
    regions = student.regions(graph, wants)
    check_regions(graph, regions, wants)
    if few:
        check_few(graph, regions)


def parsed(text):
    typed = text.replace(" =", ": f32[2,2] =")
    return parse(f"(%x: f32[2,2], %y: f32[2,2]) {{ {typed} }}")


def test_a_chain(student):
    """Three nodes one behind the other are one region."""
    check(student, parsed("%a = mul(%x, %y) %b = add(%a, %y) %c = tanh(%b) return %c"))


def test_a_way_around(student):
    """Two nodes with a matmul between them are two regions."""
    check(
        student,
        parsed("%a = mul(%x, %y) %b = matmul(%a, %x) %c = add(%a, %b) return %c"),
        few=False,
    )


def test_several_readers(student):
    """A value with several readers is no border."""
    text = "%a = exp(%x) %b = sin(%a) %c = cos(%a) %d = matmul(%b, %c) return %d, %a"
    check(student, parsed(text))


def test_a_training_step(student):
    """The step of a network has as few kernels as can be."""
    check(student, optimize.optimize(step()))


def yours(student, backend, kernels):
    return joining(backend, kernels, wants, lambda graph: student.regions(graph, wants))


def test_in_build(student):
    """A backend that joins what you say runs fewer kernels, and gives the same numbers."""
    numpy = parts.backend("numpy")
    plain, fused = (
        build(step(), backends=b) for b in ([numpy], [yours(student, numpy, evaluated()), numpy])
    )
    counts = [len(p.steps) for p in (plain, fused)]
    assert counts[1] < counts[0], f"{counts[0]} kernels without your regions, {counts[1]} with them"
    same(plain, fused, 1e-6)


def show(student):
    return generated(step(), lambda *native: yours(student, *native))


def step():
    x, t, w, v = values(x=(16, 8), t=(16, 2), w=(8, 32), v=(32, 2))
    loss = ops.mean(ops.square(ops.tanh(ops.sigmoid(x @ w) * 2.0 @ v) - t))
    news = [u - 0.1 * du for u, du in zip((w, v), autodiff.gradients(loss, (w, v)), strict=True)]
    return Graph.of((x, t, w, v), (loss, *news))

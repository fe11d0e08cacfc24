from math import isqrt

from byparts import ops
from byparts_graph_ir import Pass, producers, verify
from byparts_memplan import peak_bytes
from byparts_optimize import optimize
from byparts_runtime import build
from exercise import same
from memory.deep_chains import deep_mlp

COUNTS = (16, 64, 144)
RESULT_BYTES = 512 * 8 * 4  # of a layer


def chain(count):
    """A training step of so many layers; its outputs are the loss and gradients."""
    return optimize(deep_mlp(count, batch=512, width=8)[0])


def layers_of(graph):
    return [node.outputs[0] for node in graph.nodes if isinstance(node.op, ops.Tanh)]


def checkpointed(student, graph):
    return verify(student.checkpoint(graph, layers_of(graph)))


def alive(graph):
    """The most bytes alive at a step, weights aside, as a number of results of layers."""
    return peak_bytes(graph, external=range(2, len(graph.inputs))) / RESULT_BYTES


def work(nodes):
    return sum(n.op.flops(*[v.type for v in n.inputs]) for n in nodes)


def test_one_more_forward_pass(student):
    """The work grows by one forward pass at most."""
    for graph in map(chain, COUNTS):
        more = work(checkpointed(student, graph).nodes) - work(graph.nodes)
        more /= work(producers(layers_of(graph)))
        sentence = f"the graph does {more:.1f} forward passes more, and 1 is enough"
        assert more < 1.01, f"{sentence}: compute a layer again once, and remember its result"


def test_bytes(student):
    """The results of at most 2 sqrt(n) + 4 layers are alive at any step."""
    for count in COUNTS:
        most, results = 2 * isqrt(count) + 4, alive(checkpointed(student, chain(count)))
        sentence = (
            f"with {count} layers {results:.1f} results of layers are alive at the fullest step"
        )
        assert results <= most, (
            f"{sentence}; keep every {isqrt(count)}th, and there are at most {most}"
        )


def test_not_undone(student):
    """Passes that come later do not undo it."""
    before = alive(chain(64))
    after = alive(optimize(checkpointed(student, chain(64))))
    sentence = (
        f"after the pass optimize nothing is left of it: {after:.1f} results alive, of {before:.1f}"
    )
    why = "it merges what is computed again with the first; read kept values through OptimizationBarrier"
    assert after < before / 2, f"{sentence}: {why}"


def test_in_build(student):
    """A program built with your pass gives the same bits in less than half the memory."""
    graph = chain(64)
    passes = (Pass("yours", lambda graph: checkpointed(student, graph)), "auto")
    plain, yours = build(graph), build(graph, passes=passes)
    sizes = [program.plan.arena_bytes for program in (plain, yours)]
    assert 2 * sizes[1] < sizes[0], (
        f"the arena of a program has {sizes[1]} bytes, {sizes[0]} before"
    )
    same(plain, yours)

# ruff: noqa: D100, D101, D103, E402
# Prose instead of docstrings, and imports where they are first needed.
# %% [markdown]
# # From forty lines to the real thing
#
# This tutorial builds a small deep-learning system: a graph in forty lines, its ops and its
# gradient in twenty more. It works. Then we run it into its limits, one by one, and see what the
# parts of byparts do about them. At the end we train a network on handwritten digits, with a
# memory plan, an op and a pass of our own.
#
# You need Python and NumPy, and a memory of what a derivative is. Read from top to bottom; run it
# with
#
#     python docs/tutorial.py
#
# or cell by cell, in an editor that knows `# %%`. What stands under `# prints:` is what the code
# above it prints; the tests of this repository compare it.
#
# 1. A small copy: a graph, and its gradient
# 2. Where the small copy ends
# 3. The same program in byparts
# 4. Gradients are graphs
# 5. Passes: the program gets smaller
# 6. Memory: the program gets a plan
# 7. Training on digits
# 8. Gradients of gradients
# 9. An op of your own
# 10. A pass of your own
# 11. Exercises
#
# ## 1. A small copy
#
# A network is a formula. To differentiate it, to look for savings in it, to decide where its
# results lie in memory, we need the formula as data, before any number is computed. So an
# expression like `a + b` shall not add. It shall *record* that there is something to add.
#
# Three ideas are enough. An **op** is what can be done: its name, how it is computed, and its
# gradient. A **value** is the result of an op on other values; a value without an op is an input.
# A **graph** is a list of values in an order in which they can be computed.

# %%
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SmallOp:
    name: str
    compute: Callable  # arrays in, array out
    gradient: Callable  # (y, dy, *inputs) -> one gradient for each input

    def __call__(self, *inputs: "SmallValue") -> "SmallValue":
        return SmallValue(self, inputs)


@dataclass(frozen=True, eq=False)  # eq=False: two values are equal if they are the same object
class SmallValue:
    op: SmallOp | None = None
    inputs: tuple["SmallValue", ...] = ()

    def __add__(self, other):
        return add(self, other)

    def __sub__(self, other):
        return sub(self, other)

    def __mul__(self, other):
        return mul(self, other)

    def __matmul__(self, other):
        return matmul(self, other)


@dataclass(frozen=True)
class SmallGraph:
    inputs: tuple[SmallValue, ...]
    values: tuple[SmallValue, ...]  # made by ops, each after what it is made of
    outputs: tuple[SmallValue, ...]

    @staticmethod
    def of(inputs, outputs):
        found = {}

        def visit(v):
            if v.op and v not in found:
                for x in v.inputs:
                    visit(x)
                found[v] = None  # a dict, because it keeps its order

        for v in outputs:
            visit(v)
        return SmallGraph(tuple(inputs), tuple(found), tuple(outputs))

    def run(self, *arrays):
        known = dict(zip(self.inputs, arrays, strict=True))
        for v in self.values:
            known[v] = v.op.compute(*(known[x] for x in v.inputs))
        return [known[v] for v in self.outputs]


# %% [markdown]
# Now the ops. The gradient of an op says: given `dy`, the derivative of the loss by my result,
# what are the derivatives by my inputs? It answers in *values*, so it builds more graph. For `y =
# tanh(a)` the derivative is `1 - y²`, so the answer is `dy - dy * y * y`.

# %%
add = SmallOp("add", np.add, lambda y, dy, a, b: (dy, dy))
neg = SmallOp("neg", np.negative, lambda y, dy, a: (neg(dy),))
sub = SmallOp("sub", np.subtract, lambda y, dy, a, b: (dy, neg(dy)))
mul = SmallOp("mul", np.multiply, lambda y, dy, a, b: (dy * b, dy * a))
tanh = SmallOp("tanh", np.tanh, lambda y, dy, a: (dy - dy * y * y,))
turn = SmallOp("turn", np.transpose, lambda y, dy, a: (turn(dy),))
matmul = SmallOp("matmul", np.matmul, lambda y, dy, a, b: (dy @ turn(b), turn(a) @ dy))
total = SmallOp("total", np.sum, lambda y, dy, a: (dy * ones(a),))
ones = SmallOp("ones", np.ones_like, lambda y, dy, a: (a - a,))

# %% [markdown]
# Reverse mode is one walk backwards over the graph. `found` holds the gradient of each value met
# so far. A value that is used twice gets a gradient from each use, and they are added.


# %%
def small_gradients(y, xs):
    found = {y: ones(y)}
    for v in reversed(SmallGraph.of([], [y]).values):
        if v in found:
            for x, dx in zip(v.inputs, v.op.gradient(v, found[v], *v.inputs), strict=True):
                found[x] = found[x] + dx if x in found else dx
    return [found[x] for x in xs]


# %% [markdown]
# That is all of it. Let us fit a network with one hidden layer to exclusive or: four rows of
# input, four answers.

# %%
X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype="float32")
T = np.array([[0], [1], [1], [0]], dtype="float32")
random = np.random.default_rng(0)
W1 = random.standard_normal((2, 8)).astype("float32")
W2 = random.standard_normal((8, 1)).astype("float32")

x, t, w1, w2 = SmallValue(), SmallValue(), SmallValue(), SmallValue()
error = tanh(tanh(x @ w1) @ w2) - t
loss = total(error * error)
step = SmallGraph.of([x, t, w1, w2], [loss, *small_gradients(loss, [w1, w2])])

formula = SmallGraph.of([x, t, w1, w2], [loss])
print(" ".join(v.op.name for v in formula.values))
print(" ".join(v.op.name for v in step.values if v not in formula.values))
# prints:
#   matmul tanh matmul tanh sub mul total
#   turn ones ones mul mul mul add mul mul sub turn matmul mul mul sub matmul turn matmul

# %% [markdown]
# Before we believe the gradient, we check it: move one weight a little to both sides, and compare
# the difference of the losses with what the gradient says. In double precision, because we
# subtract numbers that are nearly equal.

# %%
inputs = [a.astype("float64") for a in (X, T, W1, W2)]
_, dw1, dw2 = step.run(*inputs)


def moved(by):
    arrays = [a.copy() for a in inputs]
    arrays[2][1, 3] += by
    return step.run(*arrays)[0]


difference = (moved(1e-6) - moved(-1e-6)) / 2e-6
print(f"gradient {dw1[1, 3]:.6f}, difference {difference:.6f}")
# prints:
#   gradient -0.101129, difference -0.101129

# %% [markdown]
# It is right. A gradient step is then a loop:

# %%
before = step.run(X, T, W1, W2)[0]
for _ in range(300):
    _, dw1, dw2 = step.run(X, T, W1, W2)
    W1, W2 = W1 - 0.1 * dw1, W2 - 0.1 * dw2
after = step.run(X, T, W1, W2)[0]
print(f"loss fell below a tenth: {after < before / 10}")
# prints:
#   loss fell below a tenth: True

# %% [markdown]
# ## 2. Where the small copy ends
#
# **It does not know shapes.** Give the layer a bias of shape [8]. NumPy adds it to each of the
# four rows, and the gradient of `add` passes `dy` on as it is: [4, 8], where the bias is [8]. No
# error, and wrong.

# %%
b = SmallValue()
wrong = SmallGraph.of([x, w1, b], small_gradients(total(tanh(x @ w1 + b)), [b]))
print("the bias is", np.zeros(8).shape, "and its gradient", wrong.run(X, W1, np.zeros(8))[0].shape)
# prints:
#   the bias is (8,) and its gradient (4, 8)

# %% [markdown]
# And where NumPy does refuse a shape, it does so at run time, in the middle of `run`. The
# traceback ends in our loop, not at the line that wrote the formula.
#
# **It keeps everything.** `known` holds every array until the end. A chain of a hundred `tanh` on
# a megabyte needs a hundred megabytes; one would do, because each result could be written over
# the one before.

# %%
chain = [SmallValue()]
for _ in range(100):
    chain.append(tanh(chain[-1]))
graph = SmallGraph.of(chain[:1], chain[-1:])
print(f"{len(graph.values)} arrays alive at the end, {len(graph.outputs)} is asked for")
# prints:
#   100 arrays alive at the end, 1 is asked for

# %% [markdown]
# **It is as deep as Python's stack.** `visit` calls itself for each input, so a long chain, such
# as a recurrent network unrolled over time, ends in an error that has nothing to do with the
# network.

# %%
for _ in range(5000):
    chain.append(tanh(chain[-1]))
try:
    SmallGraph.of(chain[:1], chain[-1:])
except RecursionError as problem:
    print(type(problem).__name__)
# prints:
#   RecursionError

# %% [markdown]
# **It cannot be looked at.** There is no printed form that says which value is which, nothing can
# be saved (a lambda has no text), and two equal programs are not equal, so nobody can write a
# test that says: this pass turns *this* into *that*.

# %%
print(SmallGraph.of([x], [tanh(x)]) == SmallGraph.of([x], [tanh(x)]))
# prints:
#   False

# %% [markdown]
# None of this is hard to mend alone. To mend all of it and stay small is what the parts are for.
#
# ## 3. The same program in byparts
#
# The model is the one you know. An `Op` is a frozen class, a `Value` has a type, a `Graph` is
# inputs, nodes in order, outputs. One thing is new: a `Node` stands between an op and its values,
# because an op may have several results. An input says its dtype and its shape; a dimension may
# be a name, here `"n"` for the number of rows.

# %%
import byparts_opset as ops
from byparts_graph_ir import Graph, GraphError, Input, TensorType, parse

x = Input(TensorType("f32", ("n", 2)), name="x")
t = Input(TensorType("f32", ("n", 1)), name="t")
w1 = Input(TensorType("f32", (2, 8)), name="w1")
b1 = Input(TensorType("f32", (8,)), name="b1")
w2 = Input(TensorType("f32", (8, 1)), name="w2")

error = ops.tanh(ops.tanh(x @ w1 + b1) @ w2) - t
loss = ops.sum(error * error)
graph = Graph.of([x, t, w1, b1, w2], [loss])
print(graph)
# prints:
#   (%x: f32[n,2], %t: f32[n,1], %w1: f32[2,8], %b1: f32[8], %w2: f32[8,1]) {
#     %5: f32[n,8] = matmul(%x, %w1)  # tutorial.py:267
#     %6: f32[n,8] = add(%5, %b1)  # tutorial.py:267
#     %7: f32[n,8] = tanh(%6)  # tutorial.py:267
#     %8: f32[n,1] = matmul(%7, %w2)  # tutorial.py:267
#     %9: f32[n,1] = tanh(%8)  # tutorial.py:267
#     %10: f32[n,1] = sub(%9, %t)  # tutorial.py:267
#     %11: f32[n,1] = mul(%10, %10)  # tutorial.py:268
#     %12: f32[] = sum(%11)  # tutorial.py:268
#     return %12
#   }

# %% [markdown]
# Every value has a number, a type and the line that made it. The text is not only for looking: it
# parses back to an equal graph, and graphs are equal if their content is.

# %%
print(parse(str(graph)) == graph)
# prints:
#   True

# %% [markdown]
# A node is typed when it is made. So a mistake is found on the line that makes it, before
# anything runs, and the message has the numbers. (A traceback adds the line of the node.)
# [docs/errors](errors/ShapeError.md) has a page for each kind of error.

# %%
try:
    x @ w2
except GraphError as problem:
    print(str(problem).partition("\n")[0])
# prints:
#   matmul: inner dimensions differ: a is f32[n,2] and b is f32[8,1], so 2 meets 8

# %% [markdown]
# What does a graph *mean*? Each op says so, in NumPy, in its method `evaluate`. It is slow and
# obvious, and all that is fast is tested against it.

# %%
from byparts_opset.evaluate import evaluate

print(evaluate(graph, X, T, W1, np.zeros(8, "float32"), W2)[0] < before / 10)
# prints:
#   True

# %% [markdown]
# ## 4. Gradients are graphs
#
# `gradients` is the walk backwards of section 1. As there, the result is more of the same graph:
# no tape, no second kind of program.

# %%
from byparts_autodiff import gradients

dw1, db1, dw2 = gradients(loss, [w1, b1, w2])
print(db1.type, "is the gradient of", b1.type)
# prints:
#   f32[8] is the gradient of f32[8]

# %% [markdown]
# The bias is right this time: the rule of `add` sums over the rows that were made by repetition.
#
# A step of training takes old weights and gives new ones. Nothing is changed in place, as far as
# the graph is concerned: state is values. (All updates are therefore simultaneous. In systems
# where an assignment is an op with an effect, the second update may see the first.)

# %%
from byparts_graph_ir import specialize

weights = [w1, b1, w2]
news = [w - 0.1 * dw for w, dw in zip(weights, [dw1, db1, dw2], strict=True)]
step = Graph.of([x, t, *weights], [loss, *news])

four_rows = [TensorType("f32", (4, 2)), TensorType("f32", (4, 1)), None, None, None]
static = specialize(step, four_rows)
print(static)
# prints:
#   (%x: f32[4,2], %t: f32[4,1], %w1: f32[2,8], %b1: f32[8], %w2: f32[8,1]) {
#     %5: f32[4,8] = matmul(%x, %w1)  # tutorial.py:267
#     %6: f32[4,8] = add(%5, %b1)  # tutorial.py:267
#     %7: f32[4,8] = tanh(%6)  # tutorial.py:267
#     %8: f32[4,1] = matmul(%7, %w2)  # tutorial.py:267
#     %9: f32[4,1] = tanh(%8)  # tutorial.py:267
#     %10: f32[4,1] = sub(%9, %t)  # tutorial.py:267
#     %11: f32[4,1] = mul(%10, %10)  # tutorial.py:268
#     %12: f32[] = sum(%11)  # tutorial.py:268
#     %13: f32[] = fill(value=0.1)  # tutorial.py:342
#     %14: f32[] = fill(value=1.0)  # tutorial.py:326
#     %15: f32[4,1] = broadcast_to(%14, shape=(4, 1))  # tutorial.py:268
#     %16: f32[4,1] = mul(%15, %10)  # tutorial.py:268
#     %17: f32[4,1] = mul(%15, %10)  # tutorial.py:268
#     %18: f32[4,1] = add(%16, %17)  # tutorial.py:267
#     %19: f32[4,1] = tanh_gradient(%18, %9)  # tutorial.py:267
#     %20: f32[4,8] = matmul(%19, %w2, transpose_b=True)  # tutorial.py:267
#     %21: f32[4,8] = tanh_gradient(%20, %7)  # tutorial.py:267
#     %22: f32[2,8] = matmul(%x, %21, transpose_a=True)  # tutorial.py:267
#     %23: f32[2,8] = mul(%13, %22)  # tutorial.py:342
#     %24: f32[2,8] = sub(%w1, %23)  # tutorial.py:342
#     %25: f32[] = fill(value=0.1)  # tutorial.py:342
#     %26: f32[8] = sum(%21, axes=(0,))  # tutorial.py:267
#     %27: f32[8] = mul(%25, %26)  # tutorial.py:342
#     %28: f32[8] = sub(%b1, %27)  # tutorial.py:342
#     %29: f32[] = fill(value=0.1)  # tutorial.py:342
#     %30: f32[8,1] = matmul(%7, %19, transpose_a=True)  # tutorial.py:267
#     %31: f32[8,1] = mul(%29, %30)  # tutorial.py:342
#     %32: f32[8,1] = sub(%w2, %31)  # tutorial.py:342
#     return %12, %24, %28, %32
#   }

# %% [markdown]
# `specialize` binds the name `n` to 4 and builds the graph again; every type follows. `%12` is
# the loss. What comes after it walks back through the formula, and each line names the line of
# the formula that it is a derivative of. Then come the new weights.
#
# ## 5. Passes: the program gets smaller
#
# A pass is a function from a graph to a graph. Those of `byparts_optimize` are three: `fold`
# computes what depends on constants alone, `simplify` applies algebra, `merge` computes equal
# things once. `optimize` repeats them until nothing changes.

# %%
from byparts_optimize import fold, merge, optimize, simplify

smaller = static
for work in (fold, simplify, merge):
    smaller = work(smaller)
    print(work.__name__, len(smaller.nodes))
print("optimize", len(optimize(static).nodes))
# prints:
#   fold 27
#   simplify 24
#   merge 22
#   optimize 22

# %%
print(optimize(static))
# prints:
#   (%x: f32[4,2], %t: f32[4,1], %w1: f32[2,8], %b1: f32[8], %w2: f32[8,1]) {
#     %5: f32[4,8] = matmul(%x, %w1)  # tutorial.py:267
#     %6: f32[4,8] = add(%5, %b1)  # tutorial.py:267
#     %7: f32[4,8] = tanh(%6)  # tutorial.py:267
#     %8: f32[4,1] = matmul(%7, %w2)  # tutorial.py:267
#     %9: f32[4,1] = tanh(%8)  # tutorial.py:267
#     %10: f32[4,1] = sub(%9, %t)  # tutorial.py:267
#     %11: f32[4,1] = mul(%10, %10)  # tutorial.py:268
#     %12: f32[] = sum(%11)  # tutorial.py:268
#     %13: f32[] = fill(value=0.1)  # tutorial.py:342
#     %14: f32[4,1] = add(%10, %10)  # tutorial.py:267
#     %15: f32[4,1] = tanh_gradient(%14, %9)  # tutorial.py:267
#     %16: f32[4,8] = matmul(%15, %w2, transpose_b=True)  # tutorial.py:267
#     %17: f32[4,8] = tanh_gradient(%16, %7)  # tutorial.py:267
#     %18: f32[2,8] = matmul(%x, %17, transpose_a=True)  # tutorial.py:267
#     %19: f32[2,8] = mul(%18, %13)  # tutorial.py:342
#     %20: f32[2,8] = sub(%w1, %19)  # tutorial.py:342
#     %21: f32[8] = sum(%17, axes=(0,))  # tutorial.py:267
#     %22: f32[8] = mul(%21, %13)  # tutorial.py:342
#     %23: f32[8] = sub(%b1, %22)  # tutorial.py:342
#     %24: f32[8,1] = matmul(%7, %15, transpose_a=True)  # tutorial.py:267
#     %25: f32[8,1] = mul(%24, %13)  # tutorial.py:342
#     %26: f32[8,1] = sub(%w2, %25)  # tutorial.py:342
#     return %12, %20, %23, %26
#   }

# %% [markdown]
# Every line is one that you would have written by hand. Dead code needs no pass: `Graph.of` keeps
# what the outputs need.
#
# ## 6. Memory: the program gets a plan
#
# The order of the nodes is the schedule, so it is known when each value is first written and last
# read. `plan` gives every value its place in one block of memory, the arena, so that values alive
# together never overlap, and lets an op write over its input where the op allows it and nobody
# needs that input any more. The weights, inputs 2 to 4, live outside the arena.

# %%
from byparts_memplan import plan

made = plan(optimize(static), external={2, 3, 4})
print(made.report().partition("\n\n")[0])
# prints:
#   27 values, 11 buffers, alignment 64
#     each on its own    1.81 KiB  100.0 %
#     planned               576 B   31.0 %  by sweep
#     lower bound           576 B   31.0 %  reached: planned is optimal
#     shared: 13 of 14 in place, 0 of 0 view, 0 of 0 donation
#     outside the arena: 3 inputs

# %%
print(made.draw(width=60, height=10))
# prints:
#   576 B |......................hhhhhhhhhhhh............
#         |......................hhhhhhhhhhhh....kkkkkkkk
#         |..............ffffffffffffffffffffffffffffffff
#         |............eeeegggggggggggggggggggggggggg....
#         |......dddddddddddddddd....iiiiiiiiiiiiiiiiiiii
#         |......dddddddddddddddd....iiiiiiiiiiiiiiiiiiii
#         |bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb......
#         |aaaaaaaaaaaaaaaaaaaaaaaaaaaa....jjjjjjjjjjjjjj
#         |cccccccccccccccccccccccccccccccccccccccc......
#     0 B |cccccccccccccccccccccccccccccccccccccccc......
#          steps 0 to 22
#          worst step 13: 576 B alive ^
#     a  %0 x f32[4,2] (tutorial.py:261)
#     b  %1 t f32[4,1] (tutorial.py:262)
#     c  %5 matmul f32[4,8] (tutorial.py:267)
#     d  %8 matmul f32[4,1] (tutorial.py:267)
#     e  %11 mul f32[4,1] (tutorial.py:268)
#     f  %12 sum f32[] (tutorial.py:268)
#     g  %13 fill f32[] (tutorial.py:342)
#     h  %16 matmul f32[4,8] (tutorial.py:267)
#     i  %18 matmul f32[2,8] (tutorial.py:267)
#     j  %21 sum f32[8] (tutorial.py:267)
#     k  %24 matmul f32[8,1] (tutorial.py:267)

# %% [markdown]
# Steps go across, bytes go up, each letter is a buffer, in which several values may live one
# after the other. `made.svg()` is the same as a picture, such as the [plan of a convolutional
# network](pictures/lenet-plan.svg). The lower bound is the largest sum alive at one step: no
# planner can do better on this order.
#
# The chain of a hundred `tanh` of section 2 is now what it should be:

# %%
chain = [Input(TensorType("f32", (1024,)), name="x")]
for _ in range(100):
    chain.append(ops.tanh(chain[-1]))
print(plan(Graph.of(chain[:1], chain[-1:])).report().partition("\n\n")[0])
# prints:
#   101 values, 1 buffers, alignment 64
#     each on its own   404.0 KiB  100.0 %
#     planned            4.00 KiB    1.0 %  by sweep
#     lower bound        4.00 KiB    1.0 %  reached: planned is optimal
#     shared: 100 of 100 in place, 0 of 0 view, 0 of 0 donation
#     outside the arena: 0 inputs

# %% [markdown]
# ## 7. Training on digits
#
# `build` does all of it: specialize, passes, plan, and then it binds every node to a kernel, a
# function that computes from fixed memory into fixed memory. A run of the program calls those one
# after the other and does nothing else. `Variable` is what a program remembers between runs:
# build is told which inputs are the old values and which outputs the new ones.
#
# The data are 1797 images of 8 by 8 pixels, shipped with the TensorFlow front end. We keep 300
# for the test.

# %%
from importlib.resources import files

import byparts_tinyflow

with np.load(str(files(byparts_tinyflow) / "data" / "digits.npz")) as data:
    images = data["images"].reshape(-1, 64).astype("float32") / 16 - 0.5
    labels = data["labels"].astype("int64")
shuffled = np.random.default_rng(0).permutation(len(images))
train, test = shuffled[300:], shuffled[:300]


def network(x, w1, b1, w2, b2):
    return ops.relu(x @ w1 + b1) @ w2 + b2


def inputs_for(rows):
    x = Input(TensorType("f32", (rows, 64)), name="x")
    t = Input(TensorType("i64", (rows,)), name="t")
    shapes = {"w1": (64, 64), "b1": (64,), "w2": (64, 10), "b2": (10,)}
    return x, t, [Input(TensorType("f32", s), name=name) for name, s in shapes.items()]


x, t, weights = inputs_for(100)
loss = ops.mean(ops.sparse_softmax_cross_entropy(network(x, *weights), t))
news = [w - 0.2 * dw for w, dw in zip(weights, gradients(loss, weights), strict=True)]
step = Graph.of([x, t, *weights], [loss, *news])

# %%
from byparts_runtime import Variable, build

variables = []
for w in weights:
    spread = (2 / w.type.dims[0]) ** 0.5 if w.type.rank == 2 else 0
    first = spread * random.standard_normal(w.type.dims)
    variables.append(Variable(w.name, first.astype("float32")))
training = build(step, variables=variables, updates=variables)
print(training)
# prints:
#   Program(22 steps, arena of 111488 bytes)

# %% [markdown]
# Train: forty times through the data, a hundred images at a time.

# %%
for _ in range(40):
    order = random.permutation(train)
    for at in range(0, len(order) - 99, 100):
        batch = order[at : at + 100]
        (cost,) = training(images[batch], labels[batch])

x, t, weights = inputs_for(300)
guess = ops.argmax(network(x, *weights), 1)
classify = build(Graph.of([x, *weights], [guess]), variables=variables)
accuracy = np.mean(classify(images[test])[0] == labels[test])
print(f"right on at least 95 of 100 images it has not seen: {accuracy >= 0.95}")
# prints:
#   right on at least 95 of 100 images it has not seen: True

# %% [markdown]
# Two programs, one set of weights: the variables belong to neither. What became of a graph on its
# way to a program is never a secret:

# %%
print(classify.explain())
# prints:
#   specialize: 6 nodes, 0.1 ms
#   optimize: 6 nodes, 5.1 ms
#   legalize: 6 nodes, 0.1 ms
#   hoist: 6 nodes, 0.0 ms
#   order: 6 nodes, 0.4 ms
#
#   step  op      backend  inputs   outputs          bytes            note     where
#      1  matmul  numpy    %x, %w1  %5: f32[300,64]  [76800, 153600)           tutorial.py:531
#      2  add     numpy    %5, %b1  %6: f32[300,64]  [76800, 153600)  over %5  tutorial.py:531
#      3  relu    numpy    %6       %7: f32[300,64]  [76800, 153600)  over %6  tutorial.py:531
#      4  matmul  numpy    %7, %w2  %8: f32[300,10]  [0, 12000)                tutorial.py:531
#      5  add     numpy    %8, %b2  %9: f32[300,10]  [0, 12000)       over %8  tutorial.py:531
#      6  argmax  numpy    %9       %10: i64[300]    [12032, 14432)            tutorial.py:570
#
#   arena      153,600 bytes
#   naive      333,696 bytes, each value on its own
#   bound      153,600 bytes, alive at one time
#   variables  19,240 bytes
#   commit     0 bytes copied a run
#   constants  0 bytes

# %% [markdown]
# First the stages, each a graph (`classify.stages`) with its number of nodes. Then a row for each
# step: the op, who computes it, its inputs and outputs, its bytes in the arena, what it is
# written over, and the line of ours that it comes from. `classify.profile(images)` adds a column
# of times, and `classify.trace(images, path="trace.json")` writes a file for a trace viewer.
#
# ## 8. Gradients of gradients
#
# The gradient of a graph is a graph, so it has a gradient. Of `y = x³`:

# %%
x = Input(TensorType("f64", ()), name="x")
y = x * x * x
(dy,) = gradients(y, x)
(ddy,) = gradients(dy, x)
cube = Graph.of([x], [y, dy, ddy])
print(*evaluate(cube, np.float64(4)))  # x^3, 3 x^2, 6 x
# prints:
#   64.0 48.0 24.0

# %% [markdown]
# With the second derivative we can take Newton's steps, which find the minimum of a smooth
# function in a few moves: `x - f'(x) / f''(x)`. Here for `cosh(x - 1)`, whose minimum is at 1.

# %%
y = ops.cosh(x - 1)
(dy,) = gradients(y, x)
(ddy,) = gradients(dy, x)
newton = build(Graph.of([x], [x - dy / ddy]))
place = np.float64(2)
for _ in range(4):
    (place,) = newton(place)
    print(f"{place:.6f}", end=" ")
print()
# prints:
#   1.238406 1.004416 1.000000 1.000000

# %% [markdown]
# ## 9. An op of your own
#
# An op is one class. Everything that all backends must agree on stands in it: the types, the
# meaning, the gradient. Here is a bell curve, `y = exp(-x²)`.

# %%
from byparts_autodiff import check_gradient
from byparts_graph_ir import Op


class Bell(Op):
    """y = exp(-x^2), elementwise."""

    inplace = ((0, 0),)  # output 0 may be written over input 0

    def infer(self, x):
        return (x,)

    def evaluate(self, x):
        return (np.exp(-x * x),)

    def gradient(self, node, dy):
        (x,), (y,) = node.inputs, node.outputs
        return (-2 * dy * x * y,)


bell = Bell()
check_gradient(bell, np.array([-1.0, 0.0, 0.5]))  # against central differences; silent if right

# %% [markdown]
# What backends may do differently, how it is computed, stands in a table. A kernel is asked once,
# when a program is built, for a function that computes from these arrays into those.

# %%
from functools import partial

from byparts_kernels_numpy.table import kernels


def bell_into(x, y):
    np.multiply(x, x, y)
    np.negative(y, y)
    np.exp(y, y)


@kernels.on(Bell)
def bell_kernel(op, inputs, outputs):
    return partial(bell_into, inputs[0], outputs[0])


x = Input(TensorType("f32", (3,)), name="x")
print(build(Graph.of([x], [bell(x)]))([-1, 0, 1])[0].round(4))
# prints:
#   [0.3679 1.     0.3679]

# %% [markdown]
# [Your own op](your-own-op.md) goes on from here: samples for the conformance tests, and ops that
# are made of others and need no kernel.
#
# ## 10. A pass of your own
#
# The loss computes `error * error`. A `square` reads its input once, so let us have that. A pass
# is a function; a rule is Python's `match`. `rewrite` is the loop that every pass shares: it
# shows each node to the rule, with inputs already rewritten, and the rule gives new values or
# `None`.

# %%
from byparts_graph_ir import Node
from byparts_opset import Mul


def squares(graph):
    def rule(node):
        match node:
            case Node(Mul(), (a, b)) if a is b:  # x * x = x^2
                return (ops.square(a),)
        return None

    return graph.rewrite(rule)


def count(graph, name):
    return sum(node.op.name == name for node in graph.nodes)


better = squares(optimize(static))
print([count(g, "mul") for g in (optimize(static), better)])
print([count(g, "square") for g in (optimize(static), better)])
# prints:
#   [4, 3]
#   [0, 1]

# %% [markdown]
# The new nodes have the lines of those that they replace. A pass must not change what is
# computed, and that is easy to test, because a graph has a meaning:

# %%
arrays = [X, T, W1, np.zeros(8, "float32"), W2]
for old, new in zip(evaluate(static, *arrays), evaluate(better, *arrays), strict=True):
    np.testing.assert_allclose(new, old, rtol=1e-5, atol=1e-6)
print(build(better, passes=[squares]).stages[1])
# prints:
#   squares: 22 nodes, 0.1 ms

# %% [markdown]
# `build` takes passes as names or functions, in order. [Your own pass](your-own-pass.md) has
# more.
#
# ## 11. Exercises
#
# On the small copy:
#
# 1. Make `visit` a loop, so that a chain of 100 000 values is no problem.
# 2. Make `run` forget an array after its last use. How many are alive at once in the chain?
# 3. Give `SmallValue` a shape, and mend the gradient of `add`. What must the rule know?
# 4. Save a graph as text and read it back. What has to change in `SmallOp`?
#
# On byparts:
#
# 5. Add momentum to the training step: one more variable for each weight. Is the accuracy better?
# 6. Plan the training step with another order of its nodes (`Graph.of(..., order=...)`). Find one
#    with a smaller lower bound. Does the arena follow?
# 7. Write `planner(graph, *, external, alignment)` that gives every value bytes of its own, pass
#    it to `build(..., planner=...)`, and compare the arenas.
# 8. Write a pass that turns `matmul(a, b) + c` into one op of your own, with a kernel. Is it
#    faster?
# 9. Write the op `Huber(delta)`: quadratic near 0, linear beyond. What does `check_gradient` say
#    at the place where the two meet?
# 10. Compute a Hessian times a vector twice: with `hessian_vector_product`, and with `jvp` of
#     `gradients`. Compare the number of nodes after `optimize`.
#
# Where to read on: [architecture](architecture.md) for the whole, [why](why.md) for the
# alternatives, and the source: `graph.py` of graph-ir first, then `gradients.py` of autodiff and
# `plan.py` of memplan.

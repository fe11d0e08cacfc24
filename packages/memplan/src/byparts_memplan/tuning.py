"""Numbers that were chosen by measuring, all in one place, each with what it was chosen for.

They decide how long a search goes on and what it tries first, never whether its answer is right.
Placement was measured on six instances of MinimaLLoc and 42 variants, packings cut at random, and
the lifetimes of traced networks: `python benchmarks/placement.py FOLDER`.  Times below are
sums over the variants, each number changed alone.  Effort is counted in buffers looked at.
"""

# Lower bound (buffer.py)
BOUND_ALIGNMENTS = 8  # with more of them only their greatest common divisor pads: O(n) for each

# Greedy orders (portfolio.py, members.py)
FEW_PAIRS = 70  # alive together, for each buffer; with more, a tree over time is quicker
# With more pairs the effort is enough for few orders.  By lifetime comes first then, which deep
# networks need; else by size, which suffices for most of the traced ones.
MANY_PAIRS = 5_000_000
TAKE_EFFORT = 100  # of taking the bytes of one buffer: as long as so many looks
SPENT_AT_ONCE = 10_000  # effort; a millisecond, and no slower for small buffers
ORDER_EFFORT = 600  # of one order, for each buffer; orders that come out well take less

# Placement of a graph's buffers (plan.py), first with all sharing, then with less of it
PLAN_EFFORT = 13_000_000  # of each try: a second or three
NEAR = 0.001  # over the bound; so little is not worth another try
MANY_BUFFERS = 2000  # with more, so much effort for each of the first tries, and for a third one:
PLAN_FIRST_EFFORT, PLAN_LAST_EFFORT = 500_000, 10_000_000  # 20,000 nodes take seconds, not 30
NEAR_OF_MANY = 0.005

# Exact search (placement/improve.py): what is searched as a whole, and for how long
SEARCHED_BUFFERS = 3000  # with more, one run takes seconds
SEARCHED_PAIRS = 1_000_000  # buffers alive together; more of them fill the memory
SEARCH_EACH = 1000  # effort for each pair, and 20 times that for each buffer: at most a second
DECIDE_EFFORT = 200_000  # of one question that looks for a reason: 0.05 s
# Of larger problems the buffers of the fullest steps: so many of them, each time with a share of
# the effort that is left.  4000 buffers with one full step: proved optimal, 4 % over without.
CORES = (50, 150, 450, 1350)
CORE_SHARE = 0.3

# Runs of the search (placement/feasibility.py, placement/restarts.py)
SHORT_RUN = 0.5  # conflicts of a short run for each member; most that succeed have fewer
# So many decisions taken back at once count as one conflict more.  Without, the small ResNet-18 of
# docs/memory.md stays 256 bytes over its bound.
LONG_JUMP = 8
LONG_RUN_EVERY = 8  # runs; a long one has at first four times as many conflicts, then ever more
# What the first runs prefer: weights of size, life and load; narrow valleys first; level tops.
# Without them the variants take no longer, but J of MinimaLLoc comes out 1 % larger.
FIRST_RUNS = (
    (0.5, 0.5, 3, False, False),
    (1, 0.5, 3, False, False),
    (0.5, 0.5, 3, False, True),
    (1, 1, 0, False, False),
    (0.5, 0.5, 3, True, True),
    (1, 0.5, 30, False, True),
)
MERGED_SHARE = 2  # effort on merged problems for each unit on the problem itself
MERGED_RUNS = 2  # runs of each merged problem
# What is merged, the arguments of `merge`.  With the first and the last kind alone, the variants
# take six times as long and one is not placed; without merging, most are not placed in time.
MERGES = (
    (1, 1, 1, 1),
    (1, 1, 1, 1),
    (1, 1, 3, 1),
    (1, 1, 8, 1),
    (1, 1, 1, 2),
    (0.7, 0.7, 1, 1),
    (0.3, 0.3, 1, 1),
    (0.5, 0.5, 3, 2),
)
MERGED_LIKE_LAST = 0.8  # of merged problems are like the last one that was placed
MERGED_KEPT, MERGED_ANEW = 0.7, 0.5  # of its merges are kept; chance of each merge of the others

# Reasons why buffers do not fit (conflict.py)
ASKED_SETS = 200  # sets of one size that are tried; below a second in all
QUESTION_EFFORT = 2000  # effort of one question to the search

# Order (order.py, ordering/search.py): `python benchmarks/orders.py`, networks and traces
ORDER_ROUNDS = 5  # searches from what was found; an LSTM comes out 7 % worse with 2
LARGE_GRAPH = 5000  # nodes; with more, one round
BOUNDED_TASKS = 4  # of the worst that are bounded at once; 1: the LSTM 7 % worse
PEAK_PART = 20  # of what might be gained, this part at a time; 5: the LSTM 5 to 7 % worse
# Tasks on each side of the worst one; each further window is twice as long.  Longer ones than that
# take effort from proofs: the LSTM was proved to 0.3 %, and to 13 % without a limit.
SHORTEST_WINDOW, LONGEST_WINDOW = 8, 512
FIRST_LOOKS = 2000  # at tasks of a window, at first; 500 and 10,000 give the same peaks

"""Every number that was chosen rather than derived, with what it decides.

None of them decides whether an answer is right: peaks and costs are always those of the schedule
itself.  They decide how long a search goes on and what it tries first.  They were chosen on the
traced training steps of `benchmarks/memory/remat_table.py` (300 to 3000 steps), on
`benchmarks/memory/large.py` (20,000 steps) and, for the solver, on
`benchmarks/checkmate.py`, so that the tables of the README come out as they stand there,
within the seconds that stand there.  Where a comment says what another value gives, that number
alone was changed, for ResNet-18, U-Net, MobileNetV2 and BERT of `benchmarks/memory`, at a
budget and at a limit of cost each, and for random chains of 45 to 800 copies, sums and casts that
are read again on the way back (`there_and_back` of the tests).  Work is counted in changes of a
schedule (some 20 microseconds each), so the same arguments give the same answer on every machine.
"""

# Sizes of graphs, in steps (search.py, pool.py, cp_sat.py)
SMALL_STEPS = 100  # up to here the whole trade-off is searched, in a second or two
BISECTED_STEPS = 400  # up to here budgets are bisected for a cost limit; beyond, that takes minutes
LARGE_STEPS = 3000  # beyond: one start of each origin, one chain schedule, no solver

# Effort of one search, in changes (search.py)
WORK = 80_000  # for a budget at effort 1: two seconds
WORK_OF_STEP = 200  # small graphs get no more than this for each step: they converge earlier
PATIENCE = 200_000  # after so many, one greedy descent is given up; 60 for each step at effort 0
PATIENCE_OF_STEP = 60
STARTS_PATIENCE = 3  # times the patience, for all starts of one budget together
SMALL_SHARE = 1 / 8  # of the work, for answers that only lead to others
DEEPEN_STEPS = 200  # up to here several starts are lowered; with one, a chain comes out 7 % worse
DEEPEN_SHARE = 0.05  # of all costs: for limits of cost below that, one start
DEEPEN_WORK = 30_000  # for each of those starts

# Starts of one budget, by origin: cuts differ most, so more of them are repaired (pool.py)
STARTS = {"search": 2, "cut": 3, "proposed": 2, "plain": 1}
STARTS_OF_LARGE = {"search": 1, "cut": 1, "proposed": 1, "plain": 0}
POOL_SIZE = 128  # candidates; with more, the dominated ones are dropped
CUTS = 12  # minimum cuts of each base order; 3: one answer worse, by 0.04 %
CUT_STEPS = 20_000  # of graphs with more than this / 12 steps fewer cuts, at least 3
LONGEST = 8  # sequences with more runs than this for each step are not looked at
OVER_WEIGHT = 3  # bytes above the budget, relative to it, count so much more than relative cost
SAME_BUDGET = 0.9  # budgets this near to each other make much the same of a start
SAME_BUDGET_OF_SEARCHED = 0.998  # and of a start that a search found; 0.9: U-Net 622 for 602 MiB

# Greedy repair (repair.py, moves.py)
TIE = 1e-5  # of the whole cost is spread over all bytes written, so that no recomputation is free
TRIES = 12  # gaps tried on the schedule itself for each batch that is taken
BATCH = 6  # gaps taken after one ranking, one more for every 400 large storages
BATCH_STORAGES = 400  # without: three answers change, by -3 to 2 % of their extra cost
STILL_GOOD = (
    0.7  # part of its gain that a gap must keep after those before it; 0: chains up to 15 % worse
)
BUDGET_STEP = 0.8  # a budget far below is approached in such steps; at once: MobileNetV2 1 % worse
SMALLEST_GAP = 5000  # storages below the peak divided by this are not freed; all: U-Net 622 MiB
LONGEST_CLOSURE = 80, 4  # steps that one move may repeat: 80, or 4 square roots of all steps
ESTIMATED_STEPS = 40  # steps looked at to estimate what one recomputation costs

# Ruin and recreate (improve.py): which values are drawn, each equally often
RUIN_SHARES = (0.05, 0.15, 0.3)  # of all recomputations
RUIN_WIDTHS = (0.01, 0.03, 0.06, 0.1, 0.2)  # of all steps
REPAIR_TRIES = (2, 4, 8)
REPAIR_NOISE = (0.0, 0.3, 1.0)  # standard deviation of the logarithm of scores
WORSE_ON_THE_WAY = 0.01  # a repair is given up once the cost is this much above the current one

# The way down to the smallest peak (lower_peak.py, search.py, whole_tradeoff.py)
FIRST_STEP, SECOND_STEP = 0.08, 0.02  # parts of the peak by which budgets are lowered at first
LAST_STEP = 0.002  # and below which lowering ends
SLACKS = 1.1, 1.5  # the cost may go so far beyond its limit before the release that follows
LOWER_WORK = 40_000  # changes for lowering the budget once
LEAST_WORK = 3_000
FINE_STEPS = ((0.02, 5e-4), (1e-3, 1e-4))  # first and last step of each pass; one pass: 6 % worse
TRADEOFF_PART = 64  # budgets of a whole trade-off: each lower by this part than the peak before
TRADEOFF_WORK = 1 / 32  # of the work, for each of those budgets

# Minimum cuts (cut.py)
PRICE_RANGE = 64  # prices from all saved to all repeated: the extreme ratios, and this much beyond
PRICE_STEP = 1.01  # prices nearer than that are not told apart

# Chains (chains/)
STAGES = 48  # of a graph seen as a chain: the table of the dynamic program grows with the cube
WINDOW = 8, 4  # a storage that lives over more than 8 steps and a quarter of all moves no cut
FAR_STAGES = 3, 10  # a storage that crosses more cuts than 3 and a tenth of all is never repeated
CHEAP_SHARE = 0.02  # of all work is repeated in the backward at most; 0: MobileNetV2 4 % worse
EXACT_SLOTS = 4096  # bytes are counted exactly where that many slots are enough: still seconds
EXHAUSTIVE_STAGES = 5  # of chains that are searched through; six take a minute

# The solver, CP-SAT (cp_sat.py, cp_sat_cover.py)
ORDERS = 3  # orders of the best known schedules that it is asked about
ANY_ORDER_RUNS = 64  # up to here runs may be in any order
QUICK, THOROUGH = 0.1, 0.5  # deterministic time of a question at effort 1: some 2 s, some 10 s
MOST_RUNS = ((12, 6), (60, 4), (200, 3))  # (steps, runs of a step at most); of larger graphs 2
COVER_LITERALS = 4000  # of the linear bound; more slow the solver down
PRUNED_POSITIONS = 2_000_000  # looked at for runs that a solution has in vain

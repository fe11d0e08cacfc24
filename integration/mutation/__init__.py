"""Passes, lowering, emitters, planner and runtime made wrong by rule, for random programs to tell.

    source      one expression of one function of ours is another one
    graphs      one node of the graph after the passes is another one
    loops       one place of the loops of a region is another one
    texts       one place of the C or LLVM IR of a region is another one
    plans       one value, or a workspace, lies over a value that is still read
    binding     a step is missing, bound to other memory, or in another order

`trying` runs programs in forked children of a process that has compiled their code already;
`page` writes docs/program-mutants.md.
"""

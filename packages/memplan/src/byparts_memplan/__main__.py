"""`python -m byparts_memplan place FILE.csv`: offsets for buffers, without any graph.

The offsets go to stdout, as CSV or JSON; what a person wants to know goes to stderr.  Exit status:
0 placed, 1 does not fit in the capacity (or not found in time: it says which), 2 wrong input, or
no place for the output, 130 interrupted, 141 nobody reads the output.

The JSON is one object; later versions add fields and, should one change, count `format` up:

    byparts, format     "offsets", 1
    fits                whether all is within the capacity; true where none was given
    arena_bytes         end of the highest buffer; of several spaces, the sum of their ends
    lower_bound_bytes   no arena can be smaller
    optimal             whether these two are equal
    how                 what found it, for people
    arenas              space -> bytes; the default space is ""
    offsets             id -> bytes from the start of its space's arena, also where it does not fit
    proved, subset      only where it does not fit: whether no placement does; ids that do not fit
                        even alone, as few as possible, [] where they are not known
"""

import sys

from byparts_memplan.commands.place import main

if __name__ == "__main__":
    sys.exit(main())

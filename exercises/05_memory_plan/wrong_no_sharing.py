"""Every buffer has bytes of its own, whether it is alive or not.

Says: which are never alive together
"""


def offsets(buffers):
    ends = [0]
    for b in buffers:
        ends.append(ends[-1] + b.size_bytes)
    return ends[:-1]

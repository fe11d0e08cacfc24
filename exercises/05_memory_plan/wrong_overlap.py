"""After a long buffer and a short one above its middle, the end of the short one is taken.

Says: share bytes
"""


def offsets(buffers):
    """Return an offset for each buffer, in the order of `buffers`."""
    placed = {}
    for i in sorted(range(len(buffers)), key=lambda i: -buffers[i].size_bytes):
        b, offset = buffers[i], 0
        alive = [j for j in placed if buffers[j].born < b.dies and b.born < buffers[j].dies]
        for j in sorted(alive, key=placed.__getitem__):
            if placed[j] - offset >= b.size_bytes:
                break
            offset = placed[j] + buffers[j].size_bytes
        placed[i] = offset
    return [placed[i] for i in range(len(buffers))]

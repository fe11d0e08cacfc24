"""Exercise 5, solved: the largest first, each in the lowest gap that is large enough."""


def offsets(buffers):
    placed = {}
    for i in sorted(range(len(buffers)), key=lambda i: -buffers[i].size_bytes):
        b, offset = buffers[i], 0
        alive = [j for j in placed if buffers[j].born < b.dies and b.born < buffers[j].dies]
        for j in sorted(alive, key=placed.__getitem__):
            if placed[j] - offset >= b.size_bytes:
                break
            offset = max(offset, placed[j] + buffers[j].size_bytes)
        placed[i] = offset
    return [placed[i] for i in range(len(buffers))]

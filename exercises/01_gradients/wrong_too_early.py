"""A node is asked as soon as one of its readers was.  Says: before all readers of its result."""

from byparts import ops


def gradients(loss, xs):
    dy, todo, asked = {loss: ops.ones_like(loss)}, [loss.node], {None}
    while todo:
        if (node := todo.pop()) not in asked:
            asked.add(node)
            dys = [dy[v] if v in dy else ops.zeros_like(v) for v in node.outputs]
            for x, dx in zip(node.inputs, node.op.gradient(node, *dys), strict=True):
                if dx is not None:
                    dy[x] = dy[x] + dx if x in dy else dx
                    todo.append(x.node)
    return [dy[x] for x in xs]

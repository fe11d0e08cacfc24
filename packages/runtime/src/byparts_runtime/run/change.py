"""`Change`: a program starts on kernels that need no compiler and changes to generated code.

A compiler takes seconds, which a program that ends before that has waited for in vain.  So a
program with `wait=False` is built for the backends that need none; at a fixed call a thread begins
to build it for all of them, and at another fixed call, before it runs, the program takes what that
thread made.  There the call waits for the thread and never races with it: which call is computed by
which kernels depends on the graph alone, not on clocks, load or what the disk cache holds, so that
two runs agree to the bit.

When.  The work of a call and that of the compiler are estimated (`estimate`); the compiler starts
when the calls have cost as much as it will, and the change is after as many calls again, which is
about when it is ready.  A program that ends before has started no compiler; one that goes on has
lost at most about one compilation against waiting for it first (the rent or buy problem).  A
program that is called once starts none whatever it costs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import ceil
from threading import Thread
from typing import Any, Optional
from warnings import warn

from byparts_graph_ir import Branches, Node, ReversedLoop
from byparts_graph_ir.fork import make_lock
from byparts_runtime.inspect.costs import flops
from byparts_runtime.memory.arena import Arena
from byparts_runtime.memory.plan import arena_bytes
from byparts_runtime.run.bind import Binding
from byparts_runtime.run.loaded import Loaded

# Seconds on the kernels of NumPy, of one core of a server of 2023.  Round: they decide when, not
# what, and must be the same on all machines.
_S_PER_STEP, _S_PER_BYTE, _S_PER_FLOP = 3e-6, 2e-10, 2e-11
_ROUNDS = 16  # of a loop that may have any number
# Of the compiler, with lowering and printing of the code.
_COMPILER_S, _COMPILER_S_PER_NODE = 1.5, 0.02


class Compilation:
    """Compilation beside a program that runs, and the calls that are counted till then.

    Args:
        make: gives what the programs change to; called once, in a thread.
        first: what the programs run before, of which the calls are estimated.
        names: of the backends that they change to.

    Attributes:
        calls: how many there have been, of all programs of it.
        error: why they stay as they were, if they have to.
    """

    def __init__(self, make: Callable[[], Any], first: Loaded, names: str) -> None:
        self.names, self.calls = names, 0
        self.error: Optional[Exception] = None
        self._make: Optional[Callable[[], Any]] = make
        self._result: Any = None
        self._thread: Optional[Thread] = None
        self._process = 0
        self._first: Optional[Loaded] = first
        self._at = 0, 0
        self.lock = make_lock()

    @property
    def starts_at(self) -> int:
        """The call before which the thread starts, counted from 1; at least 2."""
        return self._calls_at()[0]

    @property
    def changes_at(self) -> int:
        """The call before which the programs change."""
        return self._calls_at()[1]

    def _calls_at(self) -> tuple[int, int]:
        """Both, estimated when first needed: 10 us a node, which one call is not to pay."""
        with self.lock:
            if self._first is not None:
                self._at, self._first = estimate(self._first), None
            return self._at

    def next_call(self) -> bool:
        """Count a call; whether its program has to change before it runs."""
        with self.lock:
            self.calls += 1
            if self.calls == 1:  # what is called once never starts a compiler
                return False
            starts_at, changes_at = self._calls_at()
            if self.calls == starts_at:
                self._start()
            return self.calls >= changes_at

    def result(self) -> Any:
        """Wait for what `make` gives; `None` where that failed."""
        with self.lock:
            if self._thread is not None and self._process == os.getpid():
                self._thread.join()
            else:  # at once, before the thread was due; or in a fork, which has no such thread
                self._run()
            self._thread = None
            return self._result

    @property
    def state(self) -> str:
        """Whether the compiler has started, or has ended."""
        if self._make is None:
            return "compiled"
        return "not compiled" if self._thread is None else "being compiled"

    def _start(self) -> None:
        # A daemon: the end of the process does not wait for a compiler in vain.
        self._thread = Thread(target=self._run, name="byparts builds", daemon=True)
        self._process = os.getpid()
        self._thread.start()

    def _run(self) -> None:
        make = self._make
        if make is None:
            return
        try:
            self._result = make()
        except Exception as error:  # of a compiler, a disk, a rule: the first kernels are there
            self.error = error
        self._make = None


class Change:
    """The change of one program to other kernels, at a fixed call.

    Args:
        compilation: makes them; programs of several sizes may share one, and count together.
        of: what this program runs, of what the compilation made.
    """

    def __init__(self, compilation: Compilation, of: Callable[[Any], Loaded]) -> None:
        self.compilation, self._of = compilation, of
        self.next_call = compilation.next_call
        self._error: Optional[Exception] = None
        self._done = False

    @property
    def error(self) -> Optional[Exception]:
        """Why the program stays on its first kernels, if it has to."""
        return self._error or self.compilation.error

    def take(self) -> Optional[Loaded]:
        """Take the program that runs from now on; `None` where it stays as it is."""
        compilation = self.compilation
        result, self._done = compilation.result(), True
        try:
            with compilation.lock:  # a family gives one size at a time
                return None if result is None else self._of(result)
        except Exception as error:  # of this size
            self._error = error
            return None

    def warn(self) -> None:
        """Warn that the program stays on its first kernels."""
        text = f"going on without {self.compilation.names}: {self.error}"
        warn(text, RuntimeWarning, stacklevel=4)

    def __str__(self) -> str:
        c = self.compilation
        if self.error is not None:
            return f"the first ones, without {c.names}: {self.error}"
        if self._done:
            return f"changed to {c.names}, at call {c.changes_at} or when bound"
        return (
            f"changes to {c.names} at call {c.changes_at} (from call {c.starts_at} on it is "
            f"compiled); {c.calls} calls so far, {c.state}"
        )


def ready(loaded: Loaded) -> Loaded:
    """Bind to memory of no further use, so that all code is made, and binding again is quick.

    No lock of a variable or an arena is held meanwhile, so the program goes on running.
    """
    spaces = loaded.parts.spaces
    memory = {
        name: space.allocate(arena_bytes(loaded.plan, name if len(spaces) > 1 else None))
        for name, space in spaces.items()
    }
    Binding(loaded, memory, (), Arena(loaded.space), shares=False)
    return loaded


def estimate(loaded: Loaded) -> tuple[int, int]:
    """The calls at which the compiler starts and at which a program changes to generated code.

    Args:
        loaded: what it runs on its first kernels.
    """
    call_s, nodes = _seconds(loaded)
    compiler_s = _COMPILER_S + _COMPILER_S_PER_NODE * nodes
    starts_at = max(2, ceil(compiler_s / max(call_s, _S_PER_STEP)))
    return starts_at, 2 * starts_at


def _seconds(loaded: Loaded) -> tuple[float, int]:
    """The estimate of one run, loops included, and the number of nodes, in bodies, too."""
    total_s, nodes = 0.0, 0
    for node in loaded.graph.nodes:
        bodies = [_seconds(body.loaded) for body in loaded.kernels(node).bodies]
        of_node = sum([s for s, _ in bodies]) * _rounds(node) if bodies else _kernel_s(node)
        total_s, nodes = total_s + of_node, nodes + 1 + sum([n for _, n in bodies])
    return total_s, nodes


def _rounds(node: Node) -> float:
    """Expected number of runs of each of the bodies of a node."""
    control = node.op.control(*[v.type for v in node.inputs])
    if isinstance(control, Branches):
        return 1 / len(control.bodies)
    loop = control.loop if isinstance(control, ReversedLoop) else control
    return _ROUNDS if loop is None or loop.rounds is None else loop.rounds


def _kernel_s(node: Node) -> float:
    size_bytes = sum([v.type.size_bytes for v in (*node.inputs, *node.outputs)])
    return _S_PER_STEP + _S_PER_BYTE * size_bytes + _S_PER_FLOP * flops(node)

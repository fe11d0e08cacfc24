"""Functions ordered by what they read and write, run on worker threads.

    with Engine(workers=2) as engine:
        a, b = engine.new_variable("a"), engine.new_variable("b")
        engine.push(load, writes=[a])
        engine.push(transform, reads=[a], writes=[b])
        engine.wait_for(b)

The design is the dependency engine of MXNet (https://mxnet.apache.org/versions/1.0.0/architecture/
note_engine.html).  The engine knows no arrays: a variable is a name for whatever functions share.
"""

from byparts_engine.engine import Engine
from byparts_engine.task import EngineError, Task, Variable

__version__ = "0.2.0"

__all__ = ["Engine", "EngineError", "Task", "Variable"]

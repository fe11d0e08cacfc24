"""All operations, which `Graph.get_operation` knows by the names of their classes."""

from byparts_frontend_pytensor.ops.array_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.embedding_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.loss_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.lstm_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.math_ops import *  # noqa: F403
from byparts_frontend_pytensor.ops.rnn_ops import *  # noqa: F403

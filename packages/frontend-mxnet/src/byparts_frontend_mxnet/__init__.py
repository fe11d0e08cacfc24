"""Programs of MXNet 1.0, imperative and symbolic, by changing the import line."""

from byparts_frontend_mxnet import nd as nd

from byparts_frontend_mxnet import autograd as autograd, gluon as gluon  # isort: skip
from byparts_frontend_mxnet import (
    context as context,
    initializer as initializer,
    lr_scheduler as lr_scheduler,
    operator as operator,
    optimizer as optimizer,
    random as random,
    test_utils as test_utils,
)
from byparts_frontend_mxnet.context import (
    Context as Context,
    cpu as cpu,
    current_context as current_context,
    gpu as gpu,
    options as options,
)
from byparts_frontend_mxnet.errors import MXNetError as MXNetError

ndarray, init = nd, initializer

__version__ = "0.2.0"

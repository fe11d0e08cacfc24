"""Programs of MXNet 1.0, imperative and symbolic, by changing the import line."""

from sys import modules as _modules
from types import SimpleNamespace as _Names

from byparts_frontend_mxnet import nd as nd

from byparts_frontend_mxnet import autograd as autograd, gluon as gluon  # isort: skip
from byparts_frontend_mxnet import (
    context as context,
    errors as errors,
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

from byparts_frontend_mxnet import (  # isort: skip  # of symbols
    binding as binding,
    callback as callback,
    executor as executor,
    io as io,
    kvstore as kvstore,
    metric as metric,
    model as model,
    module as module,
    monitor as monitor,
    name as name,
    rnn as rnn,
    symbol as symbol,
    visualization as visualization,
)
from byparts_frontend_mxnet.monitor import Monitor as Monitor
from byparts_frontend_mxnet.name import AttrScope as AttrScope
from byparts_frontend_mxnet.symbol import Symbol as Symbol

ndarray, init, misc = nd, initializer, lr_scheduler
sym, mod, kv, viz, mon, attribute = symbol, module, kvstore, visualization, monitor, name
base, cpu_pinned = errors, cpu
contrib = _Names(**dict.fromkeys(("nd", "ndarray"), nd.contrib))
contrib.sym = contrib.symbol = symbol.contrib

# `import byparts_frontend_mxnet.ndarray as F` and the like name modules.
_ALIASES = ("ndarray", "init", "sym", "mod", "kv", "base", "attribute", "viz", "mon")
_modules.update({f"{__name__}.{n}": globals()[n] for n in _ALIASES})

__version__ = "0.2.0"

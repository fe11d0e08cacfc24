"""`mx.gluon`: nets of blocks."""

from byparts_frontend_mxnet.gluon import (
    data as data,
    loss as loss,
    nn as nn,
    rnn as rnn,
    utils as utils,
)
from byparts_frontend_mxnet.gluon.block import (
    Block as Block,
    HybridBlock as HybridBlock,
    SymbolBlock as SymbolBlock,
)
from byparts_frontend_mxnet.gluon.parameter import (
    Parameter as Parameter,
    ParameterDict as ParameterDict,
)
from byparts_frontend_mxnet.gluon.trainer import Trainer as Trainer

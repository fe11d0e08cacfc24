"""Layers, losses, optimizers and training: networks written as you think."""

from byparts_nn import initialize as initialize, schedules as schedules
from byparts_nn.attention import Cache, MultiHeadAttention
from byparts_nn.average import Average
from byparts_nn.calls import init, watching
from byparts_nn.contrastive import info_nce, triplet
from byparts_nn.convolution import (
    Conv1d,
    Conv2d,
    Conv3d,
    ConvTranspose1d,
    ConvTranspose2d,
    ConvTranspose3d,
)
from byparts_nn.ctc import ctc
from byparts_nn.dropout import Dropout
from byparts_nn.gradients import Accumulator, clip_by_norm, clip_by_value, norm_of
from byparts_nn.linear import Embedding, Linear
from byparts_nn.losses import (
    binary_cross_entropy,
    cosine_distance,
    cosine_similarity,
    cross_entropy,
    hinge,
    huber,
    kl,
    l1,
    mse,
)
from byparts_nn.module import Module
from byparts_nn.normalize import BatchNorm, GroupNorm, InstanceNorm, LayerNorm, RMSNorm
from byparts_nn.optimizers import (
    SGD,
    Adagrad,
    Adam,
    AdamW,
    Group,
    Lion,
    Muon,
    Optimizer,
    RMSProp,
)
from byparts_nn.parameter import Parameter, seed
from byparts_nn.pooling import (
    AveragePool1d,
    AveragePool2d,
    AveragePool3d,
    GlobalAveragePool,
    GlobalMaxPool,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from byparts_nn.recurrent import GRU, LSTM, RNN, Bidirectional
from byparts_nn.sequential import Flatten, Residual, Sequential
from byparts_nn.transformer import TransformerBlock

__version__ = "0.2.0"

"""Layers, losses, optimizers and training: networks written as you think."""

from byparts_graph_ir.lazy_names import lazy_names
from byparts_nn import data as data, initialize as initialize, schedules as schedules

__version__ = "0.2.0"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from byparts_nn.attention import (
        Cache as Cache,
        MultiHeadAttention as MultiHeadAttention,
    )
    from byparts_nn.average import (
        Average as Average,
    )
    from byparts_nn.calls import (
        init as init,
        watching as watching,
    )
    from byparts_nn.contrastive import (
        info_nce as info_nce,
        triplet as triplet,
    )
    from byparts_nn.convolution import (
        Conv1d as Conv1d,
        Conv2d as Conv2d,
        Conv3d as Conv3d,
        ConvTranspose1d as ConvTranspose1d,
        ConvTranspose2d as ConvTranspose2d,
        ConvTranspose3d as ConvTranspose3d,
    )
    from byparts_nn.ctc import (
        ctc as ctc,
    )
    from byparts_nn.data.pipeline import (
        Data as Data,
    )
    from byparts_nn.dropout import (
        Dropout as Dropout,
    )
    from byparts_nn.evaluate import (
        evaluate as evaluate,
        predict as predict,
    )
    from byparts_nn.events import (
        CheckpointSaved as CheckpointSaved,
        EpochDone as EpochDone,
        Event as Event,
        StepDone as StepDone,
        Stop as Stop,
        TrainingEnded as TrainingEnded,
        TrainingStarted as TrainingStarted,
        early_stopping as early_stopping,
    )
    from byparts_nn.finite import (
        NotFinite as NotFinite,
    )
    from byparts_nn.fit import (
        fit as fit,
    )
    from byparts_nn.gradients import (
        Accumulator as Accumulator,
        clip_by_norm as clip_by_norm,
        clip_by_value as clip_by_value,
        norm_of as norm_of,
    )
    from byparts_nn.history import (
        History as History,
    )
    from byparts_nn.linear import (
        Embedding as Embedding,
        Linear as Linear,
    )
    from byparts_nn.losses import (
        binary_cross_entropy as binary_cross_entropy,
        cosine_distance as cosine_distance,
        cosine_similarity as cosine_similarity,
        cross_entropy as cross_entropy,
        hinge as hinge,
        huber as huber,
        kl as kl,
        l1 as l1,
        mse as mse,
    )
    from byparts_nn.metrics import (
        Mean as Mean,
        accuracy as accuracy,
        mean_absolute_error as mean_absolute_error,
        perplexity as perplexity,
    )
    from byparts_nn.module import (
        Module as Module,
    )
    from byparts_nn.normalize import (
        BatchNorm as BatchNorm,
        GroupNorm as GroupNorm,
        InstanceNorm as InstanceNorm,
        LayerNorm as LayerNorm,
        RMSNorm as RMSNorm,
    )
    from byparts_nn.optimizers.adam import (
        Adam as Adam,
        AdamW as AdamW,
    )
    from byparts_nn.optimizers.adaptive import (
        Adagrad as Adagrad,
        Lion as Lion,
        RMSProp as RMSProp,
    )
    from byparts_nn.optimizers.muon import (
        Muon as Muon,
    )
    from byparts_nn.optimizers.optimizer import (
        Group as Group,
        Optimizer as Optimizer,
    )
    from byparts_nn.optimizers.sgd import (
        SGD as SGD,
    )
    from byparts_nn.parameter import (
        Parameter as Parameter,
        seed as seed,
    )
    from byparts_nn.pooling import (
        AveragePool1d as AveragePool1d,
        AveragePool2d as AveragePool2d,
        AveragePool3d as AveragePool3d,
        GlobalAveragePool as GlobalAveragePool,
        GlobalMaxPool as GlobalMaxPool,
        MaxPool1d as MaxPool1d,
        MaxPool2d as MaxPool2d,
        MaxPool3d as MaxPool3d,
    )
    from byparts_nn.recurrent import (
        GRU as GRU,
        LSTM as LSTM,
        RNN as RNN,
        Bidirectional as Bidirectional,
    )
    from byparts_nn.sequential import (
        Flatten as Flatten,
        Residual as Residual,
        Sequential as Sequential,
    )
    from byparts_nn.summary import (
        Summary as Summary,
        summary as summary,
    )
    from byparts_nn.transformer import (
        TransformerBlock as TransformerBlock,
    )
    from byparts_nn.weights import (
        Report as Report,
        load as load,
        save as save,
    )

if not TYPE_CHECKING:
    __all__ = lazy_names(
        __name__,
        checked=True,
        **{
            "attention": "Cache MultiHeadAttention",
            "average": "Average",
            "calls": "init watching",
            "contrastive": "info_nce triplet",
            "convolution": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
            "ctc": "ctc",
            "data.pipeline": "Data",
            "dropout": "Dropout",
            "evaluate": "evaluate predict",
            "events": (
                "CheckpointSaved EpochDone Event StepDone Stop TrainingEnded TrainingStarted "
                "early_stopping"
            ),
            "finite": "NotFinite",
            "fit": "fit",
            "gradients": "Accumulator clip_by_norm clip_by_value norm_of",
            "history": "History",
            "linear": "Embedding Linear",
            "losses": (
                "binary_cross_entropy cosine_distance cosine_similarity cross_entropy hinge "
                "huber kl l1 mse"
            ),
            "metrics": "Mean accuracy mean_absolute_error perplexity",
            "module": "Module",
            "normalize": "BatchNorm GroupNorm InstanceNorm LayerNorm RMSNorm",
            "optimizers.adam": "Adam AdamW",
            "optimizers.adaptive": "Adagrad Lion RMSProp",
            "optimizers.muon": "Muon",
            "optimizers.optimizer": "Group Optimizer",
            "optimizers.sgd": "SGD",
            "parameter": "Parameter seed",
            "pooling": (
                "AveragePool1d AveragePool2d AveragePool3d GlobalAveragePool GlobalMaxPool "
                "MaxPool1d MaxPool2d MaxPool3d"
            ),
            "recurrent": "Bidirectional GRU LSTM RNN",
            "sequential": "Flatten Residual Sequential",
            "summary": "Summary summary",
            "transformer": "TransformerBlock",
            "weights": "Report load save",
        },
    )

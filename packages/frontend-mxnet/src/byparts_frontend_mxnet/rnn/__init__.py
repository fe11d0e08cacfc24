"""`mx.rnn`: recurrent cells of symbols, sentences in buckets, checkpoints of cells."""

from byparts_frontend_mxnet.rnn.cells import (
    BaseRNNCell as BaseRNNCell,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    RNNCell as RNNCell,
    RNNParams as RNNParams,
)
from byparts_frontend_mxnet.rnn.modifiers import (
    BidirectionalCell as BidirectionalCell,
    DropoutCell as DropoutCell,
    FusedRNNCell as FusedRNNCell,
    ResidualCell as ResidualCell,
    SequentialRNNCell as SequentialRNNCell,
    ZoneoutCell as ZoneoutCell,
)
from byparts_frontend_mxnet.rnn.sentences import (
    BucketSentenceIter as BucketSentenceIter,
    do_rnn_checkpoint as do_rnn_checkpoint,
    encode_sentences as encode_sentences,
    load_rnn_checkpoint as load_rnn_checkpoint,
    save_rnn_checkpoint as save_rnn_checkpoint,
)

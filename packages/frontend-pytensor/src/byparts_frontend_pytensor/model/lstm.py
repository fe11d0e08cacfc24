"""The recurrent networks of `rnn` with an LSTM."""

from byparts_frontend_pytensor import *  # noqa: F403
from byparts_frontend_pytensor.model import rnn


class LSTMClassifier(rnn.RNNClassifier):
    """The class of a sentence, from the last state."""

    layer = "LSTM"


class LSTMLM(rnn.RNNLM):
    """The next word after each word."""

    layer = "LSTM"

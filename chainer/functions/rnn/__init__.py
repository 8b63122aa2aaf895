"""Recurrent functions."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "lstm": ("LSTM", "lstm"),
    "n_step_gru": ("NStepBiGRU", "NStepGRU", "n_step_bigru", "n_step_gru"),
    "n_step_lstm": ("NStepBiLSTM", "NStepLSTM", "n_step_bilstm", "n_step_lstm"),
    "n_step_rnn": (
        "NStepBiRNNReLU",
        "NStepBiRNNTanh",
        "NStepRNNReLU",
        "NStepRNNTanh",
        "n_step_birnn",
        "n_step_rnn",
    ),
    "slstm": ("SLSTM", "slstm"),
    "tree_lstm": ("TreeLSTM", "tree_lstm"),
}

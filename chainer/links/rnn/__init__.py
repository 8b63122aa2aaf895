"""Recurrent links."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "gru": ("GRU", "StatefulGRU", "StatelessGRU"),
    "lstm": ("LSTM", "StatelessLSTM"),
    "mgu": ("StatefulMGU", "StatelessMGU"),
    "n_step_gru": ("NStepBiGRU", "NStepGRU"),
    "n_step_lstm": ("NStepBiLSTM", "NStepLSTM"),
    "n_step_rnn": ("NStepBiRNNReLU", "NStepBiRNNTanh", "NStepRNNReLU", "NStepRNNTanh"),
    "peephole": ("StatefulPeepholeLSTM",),
    "tree_lstm": ("ChildSumTreeLSTM", "NaryTreeLSTM"),
    "zoneoutlstm": ("StatefulZoneoutLSTM",),
}

"""Recurrent links."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

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

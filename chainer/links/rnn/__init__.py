"""Recurrent links."""

MODULES: dict[str, tuple[str, ...]] = {
    "lstm": ("LSTM", "StatelessLSTM"),
}

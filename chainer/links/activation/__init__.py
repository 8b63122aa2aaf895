"""Activation functions with parameters."""

MODULES: dict[str, tuple[str, ...]] = {
    "maxout": ("Maxout",),
    "prelu": ("PReLU",),
    "simplified_dropconnect": ("SimplifiedDropconnect",),
    "swish": ("Swish",),
}

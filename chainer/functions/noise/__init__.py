"""Noise injections."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "drop_path": ("drop_path",),
    "dropout": ("Dropout", "dropout"),
    "gaussian": ("Gaussian", "gaussian"),
    "gumbel_softmax": ("gumbel_softmax",),
    "simplified_dropconnect": ("SimplifiedDropconnect", "simplified_dropconnect"),
    "zoneout": ("Zoneout", "zoneout"),
}

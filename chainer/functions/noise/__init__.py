"""Noise injections."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "dropout": ("Dropout", "dropout"),
    "gaussian": ("Gaussian", "gaussian"),
    "gumbel_softmax": ("gumbel_softmax",),
    "simplified_dropconnect": ("SimplifiedDropconnect", "simplified_dropconnect"),
    "zoneout": ("Zoneout", "zoneout"),
}

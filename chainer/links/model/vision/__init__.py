"""Convolutional networks for images, with the weights their authors published."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "googlenet": ("GoogLeNet",),
    "resnet": ("ResNet50Layers", "ResNet101Layers", "ResNet152Layers"),
    "vgg": ("VGG16Layers", "VGG19Layers"),
}

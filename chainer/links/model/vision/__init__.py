"""Convolutional networks for images, with the weights their authors published."""

from chainer.core.registry.submodules import submodule_getattr

__getattr__ = submodule_getattr(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "googlenet": ("GoogLeNet",),
    "resnet": ("ResNet50Layers", "ResNet101Layers", "ResNet152Layers"),
    "vgg": ("VGG16Layers",),
}

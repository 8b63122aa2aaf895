"""Convolutional networks for images, with the weights their authors published."""

MODULES: dict[str, tuple[str, ...]] = {
    "googlenet": ("GoogLeNet",),
    "resnet": ("ResNet50Layers", "ResNet101Layers", "ResNet152Layers"),
    "vgg": ("VGG16Layers",),
}

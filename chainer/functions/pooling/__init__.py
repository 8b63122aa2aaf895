"""Spatial pooling."""

MODULES: dict[str, tuple[str, ...]] = {
    "average_pooling_2d": ("AveragePooling2D", "average_pooling_2d"),
    "average_pooling_nd": ("AveragePoolingND", "average_pooling_nd"),
    "max_pooling_2d": ("MaxPooling2D", "max_pooling_2d"),
    "max_pooling_nd": ("MaxPoolingND", "max_pooling_nd"),
}

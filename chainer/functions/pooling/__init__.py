"""Spatial pooling."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "adaptive_average_pooling_2d": ("adaptive_average_pooling_2d",),
    "average_pooling_2d": ("AveragePooling2D", "average_pooling_2d"),
    "average_pooling_nd": (
        "AveragePoolingND",
        "average_pooling_1d",
        "average_pooling_3d",
        "average_pooling_nd",
    ),
    "max_pooling_2d": ("MaxPooling2D", "max_pooling_2d"),
    "max_pooling_nd": ("MaxPoolingND", "max_pooling_1d", "max_pooling_3d", "max_pooling_nd"),
    "roi_average_align_2d": ("roi_average_align_2d",),
    "roi_average_pooling_2d": ("roi_average_pooling_2d",),
    "roi_max_align_2d": ("roi_max_align_2d",),
    "roi_max_pooling_2d": ("roi_max_pooling_2d",),
    "roi_pooling_2d": ("ROIPooling2D", "roi_pooling_2d"),
    "spatial_pyramid_pooling_2d": ("spatial_pyramid_pooling_2d",),
    "unpooling_2d": ("Unpooling2D", "unpooling_2d"),
    "unpooling_nd": ("UnpoolingND", "unpooling_1d", "unpooling_3d", "unpooling_nd"),
    "upsampling_2d": ("Upsampling2D", "upsampling_2d"),
}

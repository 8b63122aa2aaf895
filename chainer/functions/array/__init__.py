"""Array manipulations."""

from chainer.core.lazy import lazy_module

__getattr__, __dir__ = lazy_module(globals())

MODULES: dict[str, tuple[str, ...]] = {
    "broadcast": ("broadcast", "broadcast_to", "Broadcast", "BroadcastTo"),
    "cast": ("Cast", "cast"),
    "concat": ("Concat", "concat"),
    "copy": ("Copy", "copy"),
    "depth2space": ("Depth2Space", "depth2space"),
    "diagonal": ("diagonal",),
    "dstack": ("Dstack", "dstack"),
    "expand_dims": ("ExpandDims", "expand_dims"),
    "flatten": ("flatten",),
    "flip": ("Flip", "FlipLR", "FlipUD", "flip", "fliplr", "flipud"),
    "get_item": ("GetItem", "get_item"),
    "hstack": ("Hstack", "hstack"),
    "im2col": ("Im2Col", "im2col"),
    "moveaxis": ("moveaxis",),
    "pad": ("Pad", "pad"),
    "pad_sequence": ("PadSequence", "pad_sequence"),
    "permutate": ("Permutate", "permutate"),
    "repeat": ("Repeat", "repeat"),
    "reshape": ("reshape", "Reshape"),
    "resize_images": ("ResizeImages", "resize_images"),
    "rollaxis": ("Rollaxis", "rollaxis"),
    "scatter_add": ("scatter_add",),
    "select_item": ("SelectItem", "select_item"),
    "separate": ("separate",),
    "space2depth": ("Space2Depth", "space2depth"),
    "spatial_transformer_grid": ("SpatialTransformerGrid", "spatial_transformer_grid"),
    "spatial_transformer_sampler": ("SpatialTransformerSampler", "spatial_transformer_sampler"),
    "split_axis": ("SplitAxis", "split_axis"),
    "squeeze": ("Squeeze", "squeeze"),
    "stack": ("Stack", "stack"),
    "swapaxes": ("Swapaxes", "swapaxes"),
    "tile": ("Tile", "tile"),
    "transpose": ("transpose", "Transpose"),
    "transpose_sequence": ("TransposeSequence", "transpose_sequence"),
    "vstack": ("Vstack", "vstack"),
    "where": ("Where", "where"),
}

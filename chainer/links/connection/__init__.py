"""Links that apply learned weights to their input."""

MODULES: dict[str, tuple[str, ...]] = {
    "convolution_2d": ("Convolution2D",),
    "embed_id": ("EmbedID",),
    "linear": ("Linear",),
}

"""Links that wrap functions of Theano's successor PyTensor."""

MODULES: dict[str, tuple[str, ...]] = {
    "theano_function": ("TheanoFunction",),
}

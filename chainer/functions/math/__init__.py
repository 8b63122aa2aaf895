"""Mathematical functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "basic_math": ("add", "absolute"),
    "identity": ("Identity", "identity"),
    "sum": ("sum", "sum_to", "Sum"),
}

"""Mathematical functions."""

MODULES: dict[str, tuple[str, ...]] = {
    "basic_math": ("add", "absolute"),
    "sum": ("sum", "sum_to", "Sum"),
}

"""Array manipulations."""

MODULES: dict[str, tuple[str, ...]] = {
    "broadcast": ("broadcast", "broadcast_to", "Broadcast", "BroadcastTo"),
    "reshape": ("reshape", "Reshape"),
    "transpose": ("transpose", "Transpose"),
}

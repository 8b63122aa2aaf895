"""What the distribution supplies: found through the entry point ``strict``, imports nothing."""

chainer_api = 1


def chainer_backends(registry):
    """Registers the backend."""
    registry.register("strict", "chainer_strict_backend.backend:backend")
